/*
** linear.c
** Relations with matrices in place of callbacks.
** FirstOrderLinearTIR: y = C x + D lambda + F z + e, r = B lambda. FirstOrderLinearR: the same; matrices may depend on time.
** LagrangianCompliantLinearTIR: y = C q + D lambda + F z + e, r = C' lambda. LagrangianLinearTIR: the same without D.
*/
#include "model/relation.h"

#define C_FIELD NS_RELATION_COEF(C, m, nx)
#define D_FIELD NS_RELATION_COEF(D, m, m)
#define B_FIELD NS_RELATION_COEF(B, nx, m)
#define FE_FIELDS                                                                                                              \
  NS_RELATION_COEF(F, m, np),                                                                                                  \
      NS_FIELD_A_COEF_VECTOR("e", NsRelation, e, m, NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_CONSTANT)

static const NsField first_order_fields[] = {C_FIELD, D_FIELD, B_FIELD, FE_FIELDS, NS_RELATION_FIELDS, NS_FIELD_END};
static const NsField lagrangian_fields[] = {C_FIELD, FE_FIELDS, NS_RELATION_FIELDS, NS_FIELD_END};
static const NsField compliant_fields[] = {C_FIELD, D_FIELD, FE_FIELDS, NS_RELATION_FIELDS, NS_FIELD_END};

static const NsSlot slots[] = {
    {"computeC", "C", "z", "C", 'm', 'n', NS_NATIVE_MATRIX, NULL, 0},
    {"computeD", "D", "z", "D", 'm', 'm', NS_NATIVE_TIME, NULL, 0},
    {"computeB", "B", "z", "B", 'n', 'm', NS_NATIVE_MATRIX, NULL, 0},
    {"computeF", "F", "z", "F", 'm', 'p', NS_NATIVE_MATRIX, NULL, 0},
    {"computee", "e", "z", "e", 'm', '1', NS_NATIVE_TIME, NULL, 0},
};

static const char *const first_order_forms[] = {"", "CB", "CDFeB", NULL};
static const char *const lagrangian_forms[] = {"C", "Ce", "CFe", NULL};
static const char *const compliant_forms[] = {"CD", "CDe", "CDFe", NULL};

const char ns_relation_first_order_linear_ti_text[] = "FirstOrderLinearTIR";
const char ns_relation_first_order_linear_text[] = "FirstOrderLinearR";
const char ns_relation_lagrangian_text[] = "LagrangianLinearTIR";
const char ns_relation_compliant_linear_text[] = "LagrangianCompliantLinearTIR";

const NsRelationClass ns_relation_first_order_linear_ti = {
    .model = {.name = ns_relation_first_order_linear_ti_text, .noun = NS_RELATION_NOUN, .fields = first_order_fields},
    .forms = first_order_forms,
    .has_D = true};

const NsRelationClass ns_relation_first_order_linear = {.model = {.name = ns_relation_first_order_linear_text,
                                                                  .noun = NS_RELATION_NOUN,
                                                                  .fields = first_order_fields,
                                                                  .slots = slots,
                                                                  .nslots = 5},
                                                        .forms = first_order_forms,
                                                        .has_D = true};

const NsRelationClass ns_relation_lagrangian = {
    .model = {.name = ns_relation_lagrangian_text, .noun = NS_RELATION_NOUN, .fields = lagrangian_fields, .x = "q"},
    .family = NS_MECHANICS,
    .forms = lagrangian_forms};

const NsRelationClass ns_relation_compliant_linear = {
    .model = {.name = ns_relation_compliant_linear_text, .noun = NS_RELATION_NOUN, .fields = compliant_fields, .x = "q"},
    .family = NS_MECHANICS,
    .forms = compliant_forms,
    .has_D = true,
    .at_position = true};
