/*
** equality.c
** EqualityConditionNSL: y = 0, lambda free.
*/
#include "model/law.h"

static const NsField fields[] = {NS_LAW_FIELDS(0), NS_FIELD_END};

static const char *const arguments[] = {"size", NULL};

static NsStatus equality_complete(NsLaw *law, NsError *err) {
  (void)err;
  law->equalities = law->size;
  return NS_OK;
}

const char ns_law_equality_text[] = "EqualityConditionNSL";

const NsLawClass ns_law_equality = {.name = ns_law_equality_text,
                                    .bytes = sizeof(NsLaw),
                                    .fields = fields,
                                    .arguments = arguments,
                                    .goes_with = NS_WITH_ALL,
                                    .needs = NS_NEEDS_EQUATION,
                                    .complete = equality_complete};
