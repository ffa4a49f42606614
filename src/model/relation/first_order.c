/*
** first_order.c
** Relations of first order with callbacks h and g.
** FirstOrderType1R: y = h(t, x, z), r = g(t, lambda, z). FirstOrderType2R: y = h(t, x, lambda, z), r = g(t, lambda, z).
** FirstOrderNonLinearR: y = h(t, x, lambda, z), r = g(t, x, lambda, z).
*/
#include "model/relation.h"

#define C_FIELD NS_RELATION_COEF(C, m, nx)
#define D_FIELD NS_RELATION_COEF(D, m, m)
#define B_FIELD NS_RELATION_COEF(B, nx, m)
#define H_AND_G                                                                                                                \
  NS_RELATION_STATES, NS_RELATION_FIELDS, NS_FIELD_A_CALLBACK("h", NsRelation, h, NS_FIELD_CONSTANT),                          \
      NS_FIELD_A_CALLBACK("g", NsRelation, g, NS_FIELD_CONSTANT)

static const NsField type1_fields[] = {C_FIELD, B_FIELD, H_AND_G, NS_FIELD_END};
static const NsField type2_fields[] = {C_FIELD, D_FIELD, B_FIELD, H_AND_G, NS_FIELD_END};
static const NsField nonlinear_fields[] = {C_FIELD, D_FIELD, B_FIELD, NS_RELATION_COEF(K, nx, nx), H_AND_G, NS_FIELD_END};

static const NsSlot type1_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NS_NATIVE_TYPE1, NULL, 0},
    {"computeg", "g", "lz", "r", 'n', '1', NS_NATIVE_TYPE1, NULL, 0},
    {"computeJachx", "Jachx", "xz", "C", 'm', 'n', NS_NATIVE_TYPE1, "h", 'x'},
    {"computeJacglambda", "Jacglambda", "lz", "B", 'n', 'm', NS_NATIVE_TYPE1, "g", 'l'},
};

static const NsSlot type2_slots[] = {
    {"computeh", "h", "xl", "y", 'm', '1', NS_NATIVE_TYPE2H, NULL, 0},
    {"computeg", "g", "l", "r", 'n', '1', NS_NATIVE_TYPE2G, NULL, 0},
    {"computeJachx", "Jachx", "xl", "C", 'm', 'n', NS_NATIVE_TYPE2H, "h", 'x'},
    {"computeJacglambda", "Jacglambda", "l", "B", 'n', 'm', NS_NATIVE_TYPE2G, "g", 'l'},
    {"computeJachlambda", "Jachlambda", "xl", "D", 'm', 'm', NS_NATIVE_TYPE2H, "h", 'l'},
};

static const NsSlot nonlinear_slots[] = {
    {"computeh", "h", "xlz", "y", 'm', '1', NS_NATIVE_VALUE, NULL, 0},
    {"computeg", "g", "xlz", "r", 'n', '1', NS_NATIVE_VALUE, NULL, 0},
    {"computeJachx", "Jachx", "xlz", "C", 'm', 'n', NS_NATIVE_JACOBIAN, "h", 'x'},
    {"computeJacglambda", "Jacglambda", "xlz", "B", 'n', 'm', NS_NATIVE_JACOBIAN, "g", 'l'},
    {"computeJachlambda", "Jachlambda", "xlz", "D", 'm', 'm', NS_NATIVE_JACOBIAN, "h", 'l'},
    {"computeJacgx", "Jacgx", "xlz", "K", 'n', 'n', NS_NATIVE_JACOBIAN, "g", 'x'},
};

const char ns_relation_type1_text[] = "FirstOrderType1R";
const char ns_relation_type2_text[] = "FirstOrderType2R";
const char ns_relation_nonlinear_text[] = "FirstOrderNonLinearR";

const NsRelationClass ns_relation_type1 = {
    .model = {
        .name = ns_relation_type1_text, .noun = NS_RELATION_NOUN, .fields = type1_fields, .slots = type1_slots, .nslots = 4}};

const NsRelationClass ns_relation_type2 = {.model = {.name = ns_relation_type2_text,
                                                     .noun = NS_RELATION_NOUN,
                                                     .fields = type2_fields,
                                                     .slots = type2_slots,
                                                     .nslots = 5},
                                           .has_D = true};

const NsRelationClass ns_relation_nonlinear = {.model = {.name = ns_relation_nonlinear_text,
                                                         .noun = NS_RELATION_NOUN,
                                                         .fields = nonlinear_fields,
                                                         .slots = nonlinear_slots,
                                                         .nslots = 6},
                                               .has_D = true,
                                               .has_K = true};
