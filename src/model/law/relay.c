/*
** relay.c
** RelayNSL: -y is in the normal cone of [lb, ub] at lambda: lambda = lb where y > 0, lambda = ub where y < 0.
*/
#include "model/law.h"

static const NsField fields[] = {NS_LAW_FIELDS(NS_FIELD_SETTER | NS_FIELD_STATE | NS_FIELD_TIMED), NS_FIELD_END};

static const char *const arguments[] = {"size", "lb?", "ub?", NULL};

static NsLawInterval relay_bounds(const NsLaw *law, int row) {
  (void)law, (void)row;
  return (NsLawInterval){-1, 1};
}

/* A relay between velocities (dry friction, for example) constrains no position. */
static int relay_constrained(const NsLaw *law) {
  (void)law;
  return 0;
}

static const char *relay_words(const NsLaw *law) {
  if (ns_law_varies(law)) return ", bounds are functions of time";
  return law->size == 1 ? " on [{lb}, {ub}]" : "";
}

const char ns_law_relay_text[] = "RelayNSL";

const NsLawClass ns_law_relay = {.name = ns_law_relay_text,
                                 .bytes = sizeof(NsLaw),
                                 .fields = fields,
                                 .arguments = arguments,
                                 .goes_with = NS_WITH_ALL,
                                 .needs = NS_NEEDS_BOX,
                                 .bounds = relay_bounds,
                                 .constrained = relay_constrained,
                                 .words = relay_words};
