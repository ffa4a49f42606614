/*
** mixed.c
** MixedComplementarityConditionNSL: equations first, y = 0, then complementary components, 0 <= y _|_ lambda >= 0.
*/
#include "model/law.h"

/* The constructor's argument `size` counts the complementary components, as in Siconos; the field `size` counts all. */
static const NsField fields[] = {NS_FIELD_A_COUNT("size", NsLaw, size, 0, NS_LAW_MOST, 0),
                                 NS_FIELD_A_COUNT("equalities", NsLaw, equalities, 0, NS_LAW_MOST, NS_FIELD_CONSTANT),
                                 NS_LAW_BOUNDS_FIELDS(0), NS_FIELD_END};

static const char *const arguments[] = {"size", "equalities", NULL};

static NsStatus mixed_complete(NsLaw *law, NsError *err) {
  law->size += law->equalities;
  if (law->size > 0) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: expected at least one component", ns_law_name(law));
}

static int mixed_constrained(const NsLaw *law) {
  return law->equalities;
}

static const char *mixed_words(const NsLaw *law) {
  (void)law;
  return ", the first {equalities} equations";
}

const char ns_law_mixed_text[] = "MixedComplementarityConditionNSL";

const NsLawClass ns_law_mixed = {.name = ns_law_mixed_text,
                                 .bytes = sizeof(NsLaw),
                                 .fields = fields,
                                 .arguments = arguments,
                                 .goes_with = NS_WITH_ALL,
                                 .needs = NS_NEEDS_EQUATION | NS_NEEDS_UNILATERAL | NS_NEEDS_SORTS,
                                 .complete = mixed_complete,
                                 .constrained = mixed_constrained,
                                 .words = mixed_words};
