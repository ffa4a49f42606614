/*
** complementarity.c
** ComplementarityConditionNSL: 0 <= y _|_ lambda >= 0 in each component.
*/
#include "model/law.h"

static const NsField fields[] = {NS_LAW_FIELDS(0), NS_FIELD_END};

static const char *const arguments[] = {"size", NULL};

const char ns_law_complementarity_text[] = "ComplementarityConditionNSL";

const NsLawClass ns_law_complementarity = {.name = ns_law_complementarity_text,
                                           .bytes = sizeof(NsLaw),
                                           .fields = fields,
                                           .arguments = arguments,
                                           .goes_with = NS_WITH_ALL,
                                           .unilateral = true,
                                           .needs = NS_NEEDS_UNILATERAL};
