/*
** normal_cone.c
** NormalConeNSL: -y is in the normal cone of the polyhedron P = {lambda: H lambda >= K} at lambda.
*/
#include "model/law.h"

static const NsField fields[] = {NS_LAW_FIELDS(0),
                                 NS_FIELD_A_COUNT("rows", NsLaw, rows, 0, NS_LAW_MOST, NS_FIELD_HIDDEN),
                                 NS_FIELD_A_MATRIX("H", NsLaw, H, rows, size, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_VECTOR("K", NsLaw, K, rows, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_VECTOR("inside", NsLaw, inside, size, NS_FIELD_HIDDEN),
                                 NS_FIELD_END};

static const char *const arguments[] = {"size", "H", "K", NULL};

static NsLawInterval normal_cone_bounds(const NsLaw *law, int row) {
  (void)law, (void)row;
  return (NsLawInterval){-INFINITY, INFINITY};
}

static const char *normal_cone_words(const NsLaw *law) {
  return law->rows == 1 ? ", {rows} row" : ", {rows} rows";
}

const char ns_law_normal_cone_text[] = "NormalConeNSL";

const NsLawClass ns_law_normal_cone = {.name = ns_law_normal_cone_text,
                                       .bytes = sizeof(NsLaw),
                                       .fields = fields,
                                       .arguments = arguments,
                                       .goes_with = NS_WITH_FIRST_ORDER,
                                       .needs = NS_NEEDS_POLYHEDRON,
                                       .bounds = normal_cone_bounds,
                                       .words = normal_cone_words};
