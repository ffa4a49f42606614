/*
** mechanical_classes.c
** The classes of mechanical systems: LagrangianDS, LagrangianLinearTIDS, LagrangianLinearDiagonalDS and NewtonEulerDS.
*/
#include "model/mechanical_ds.h"

enum {
  GIVEN = NS_FIELD_SETTER | NS_FIELD_CONSTANT,
  MEMORY = NS_FIELD_HIDDEN | NS_FIELD_STATE,
  VIEW = NS_FIELD_LIVE | NS_FIELD_ALIAS | NS_FIELD_LATE
};

#define MATRIX(name, member, cols, flags) NS_FIELD_A_COEF(name, NsMechanicalDs, member, nv, cols, flags)
#define FORCE(name, member, flags)        NS_FIELD_A_COEF_VECTOR(name, NsMechanicalDs, member, nv, flags)
#define CALLBACK(name, member)            NS_FIELD_A_CALLBACK(name, NsMechanicalDs, member, NS_FIELD_CONSTANT)

#define FINT_FIELDS                                                                                                            \
  FORCE("fExt", fext, GIVEN), FORCE("fInt", fint, GIVEN), MATRIX("jacobianFIntq", force_jacobian[NS_FINT_BY_Q], nq, GIVEN),    \
      MATRIX("jacobianFIntqDot", force_jacobian[NS_FINT_BY_V], nv, GIVEN)

/* The fields of every mechanical system: the data of two-step schemes (x_before ...), then the others. */
#define STATE_FIELDS                                                                                                           \
  NS_DS_FIELDS(0), NS_FIELD_A_VECTOR("x_before", NsDs, x_before, n, MEMORY),                                                   \
      NS_FIELD_A_VECTOR("x_left", NsDs, x_left, n, MEMORY),                                                                    \
      NS_FIELD_A_NUMBER("h_k", NsDs, h_k, 0, INFINITY, MEMORY | NS_FIELD_RUN),                                                 \
      NS_FIELD_A_NUMBER("h_left", NsDs, h_left, 0, INFINITY, MEMORY | NS_FIELD_RUN),                                           \
      NS_FIELD_A_FLAG("left", NsDs, left, MEMORY | NS_FIELD_RUN), NS_FIELD_A_VECTOR("x_earlier", NsDs, x_earlier, n, MEMORY),  \
      NS_FIELD_A_COUNT("smooth", NsDs, smooth, 0, 2, MEMORY | NS_FIELD_RUN),                                                   \
      NS_FIELD_A_VECTOR("reaction", NsDs, reaction, nreaction, MEMORY | NS_FIELD_RUN),                                         \
      NS_FIELD_A_VECTOR("q", NsMechanicalDs, q, nq, VIEW | NS_FIELD_SETTER | NS_FIELD_COUNTED),                                \
      NS_FIELD_A_VECTOR("velocity", NsMechanicalDs, v, nv, VIEW | NS_FIELD_SETTER | NS_FIELD_COUNTED),                         \
      NS_FIELD_A_VECTOR("q0", NsMechanicalDs, base.x0, nq, VIEW | NS_FIELD_SETTER),                                            \
      NS_FIELD_A_VECTOR("velocity0", NsMechanicalDs, v0, nv, VIEW | NS_FIELD_SETTER),                                          \
      NS_FIELD_A_VECTOR("acceleration", NsMechanicalDs, acceleration, nv,                                                      \
                        NS_FIELD_LIVE | NS_FIELD_LATE | NS_FIELD_STATE | NS_FIELD_RUN),                                        \
      NS_FIELD_A_VECTOR("qMemory", NsMechanicalDs, q_k, nq, VIEW),                                                             \
      NS_FIELD_A_VECTOR("velocityMemory", NsMechanicalDs, v_k, nv, VIEW), NS_DS_GIVEN_FIELDS

static const NsField lagrangian_fields[] = {MATRIX("mass", mass, nv, GIVEN),
                                            FINT_FIELDS,
                                            FORCE("fGyr", fgyr, GIVEN),
                                            MATRIX("jacobianFGyrq", force_jacobian[NS_FGYR_BY_Q], nq, GIVEN),
                                            MATRIX("jacobianFGyrqDot", force_jacobian[NS_FGYR_BY_V], nv, GIVEN),
                                            STATE_FIELDS,
                                            CALLBACK("mass", mass_function),
                                            CALLBACK("fInt", fint_function),
                                            CALLBACK("fGyr", fgyr_function),
                                            CALLBACK("potential", potential),
                                            NS_FIELD_END};

static const NsField linear_fields[] = {MATRIX("mass", mass, nv, GIVEN),
                                        MATRIX("K", K, nv, GIVEN | NS_FIELD_LATE),
                                        MATRIX("C", C, nv, GIVEN | NS_FIELD_LATE),
                                        FORCE("fExt", fext, GIVEN),
                                        STATE_FIELDS,
                                        CALLBACK("potential", potential),
                                        NS_FIELD_END};

/* An argument of the constructor: the diagonal of a matrix. */
#define DIAGONAL(name, member) MATRIX(name, member, nv, NS_FIELD_SETTER | NS_FIELD_HIDDEN | NS_FIELD_ALIAS)

static const NsField diagonal_fields[] = {MATRIX("mass", mass, nv, GIVEN),
                                          MATRIX("K", K, nv, GIVEN | NS_FIELD_LATE),
                                          MATRIX("C", C, nv, GIVEN | NS_FIELD_LATE),
                                          FORCE("fExt", fext, GIVEN),
                                          STATE_FIELDS,
                                          CALLBACK("potential", potential),
                                          DIAGONAL("stiffness", K),
                                          DIAGONAL("damping", C),
                                          NS_FIELD_END};

/* The constructor makes `mass` from the mass (a number) and the inertia; it stores a constant moment in fExt. */
static const NsField body_fields[] = {
    MATRIX("mass", mass, nv, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT),
    FINT_FIELDS,
    NS_FIELD_A_COEF_VECTOR("mExt", NsMechanicalDs, mext, nv, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT),
    STATE_FIELDS,
    NS_FIELD_A_FLAG("mExt in the inertial frame", NsMechanicalDs, moment_inertial, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT),
    CALLBACK("potential", potential),
    CALLBACK("fInt", fint_function),
    CALLBACK("mInt", mint_function),
    NS_FIELD_END};

/* In these slots 'x' is q and 'l' is v; 'n' is the number of coordinates, 'm' of velocities. */
#define FEXT_SLOT                                                                                                              \
  { "computeFExt", "fExt", "z", "fExt", 'm', '1', NS_NATIVE_TIME, NULL, 0 }
#define FINT_SLOT                                                                                                              \
  { "computeFInt", "fInt", "xlz", "fInt", 'm', '1', NS_NATIVE_FINT, NULL, 0 }
#define FINT_JACOBIAN_SLOTS                                                                                                    \
  {"computeJacobianFIntq", "jacobianFIntq", "xlz", "J", 'm', 'n', NS_NATIVE_FINT, "fInt", 'x'}, {                              \
    "computeJacobianFIntqDot", "jacobianFIntqDot", "xlz", "J", 'm', 'm', NS_NATIVE_FINT, "fInt", 'l'                           \
  }
#define POTENTIAL_SLOT                                                                                                         \
  { "computePotential", "potential", "xz", "energy", '1', '1', NS_NATIVE_MASS, NULL, 0 }

static const NsSlot lagrangian_slots[] = {
    {"computeMass", "mass", "xz", "mass", 'm', 'm', NS_NATIVE_MASS, "mass", 'x'},
    FINT_SLOT,
    FEXT_SLOT,
    {"computeFGyr", "fGyr", "xlz", "fGyr", 'm', '1', NS_NATIVE_FGYR, NULL, 0},
    FINT_JACOBIAN_SLOTS,
    {"computeJacobianFGyrq", "jacobianFGyrq", "xlz", "J", 'm', 'n', NS_NATIVE_FGYR, "fGyr", 'x'},
    {"computeJacobianFGyrqDot", "jacobianFGyrqDot", "xlz", "J", 'm', 'm', NS_NATIVE_FGYR, "fGyr", 'l'},
    POTENTIAL_SLOT,
};

static const NsSlot linear_slots[] = {FEXT_SLOT, POTENTIAL_SLOT};

static const NsSlot body_slots[] = {
    FEXT_SLOT,
    FINT_SLOT,
    FINT_JACOBIAN_SLOTS,
    {"computeMExt", "mExt", "z", "mExt", '3', '1', NS_NATIVE_MEXT, NULL, 0},
    {"computeMInt", "mInt", "xlz", "mInt", '3', '1', NS_NATIVE_MINT, NULL, 0},
    {"computeJacobianMIntq", "jacobianMIntq", "xlz", "J", '3', 'n', NS_NATIVE_MINT, "mInt", 'x'},
    {"computeJacobianMIntv", "jacobianMIntv", "xlz", "J", '3', 'm', NS_NATIVE_MINT, "mInt", 'l'},
    POTENTIAL_SLOT,
};

static const char *const lagrangian_arguments[] = {"q0", "v0", "mass", NULL};
static const char *const linear_arguments[] = {"q0", "v0", "mass", "K", "C", NULL};
static const char *const diagonal_arguments[] = {"q0", "v0", "stiffness", "damping", "mass", NULL};
static const char *const body_arguments[] = {"q0", "v0", "mass", "inertia", NULL};

const char ns_ds_lagrangian_text[] = "LagrangianDS";
const char ns_ds_lagrangian_linear_ti_text[] = "LagrangianLinearTIDS";
const char ns_ds_lagrangian_diagonal_text[] = "LagrangianLinearDiagonalDS";
const char ns_ds_newton_euler_text[] = "NewtonEulerDS";

#define CLASS(kind, table, its_slots, its_arguments)                                                                           \
  .model = {.name = ns_ds_##kind##_text,                                                                                       \
            .noun = NS_DS_NOUN,                                                                                                \
            .fields = table##_fields,                                                                                          \
            .slots = its_slots##_slots,                                                                                        \
            .nslots = sizeof its_slots##_slots / sizeof *its_slots##_slots,                                                    \
            .arguments = its_arguments##_arguments,                                                                            \
            .x = "q",                                                                                                          \
            .lambda = "v"},                                                                                                    \
  .family = NS_MECHANICS, .update = ns_mechanical_update, .check = ns_mechanical_check_mass, .like = ns_mechanical_like,       \
  .destroy = ns_mechanical_destroy

const NsDsClass ns_ds_lagrangian = {CLASS(lagrangian, lagrangian, lagrangian, lagrangian)};
const NsDsClass ns_ds_lagrangian_linear_ti = {CLASS(lagrangian_linear_ti, linear, linear, linear)};
const NsDsClass ns_ds_lagrangian_diagonal = {CLASS(lagrangian_diagonal, diagonal, linear, diagonal), .diagonal = true};
const NsDsClass ns_ds_newton_euler = {CLASS(newton_euler, body, body, body), .turns = true};
