/*
** contact.c
** Contacts in space: NewtonEuler1DR has one row, the gap; NewtonEuler3DR adds two tangents, NewtonEuler5DR the rolling about them,
** NewtonEuler6DR also the spinning about the normal. In the plane: Lagrangian2d2DR, the gap and a tangent, between bodies with the coordinates (x, y, angle). The callback computeh, or one of
** the shapes of model/contact.h, sets the contact frame; the Jacobian C follows from the frame.
*/
#include "model/contact_curve.h"
#include "model/relation.h"

typedef struct ContactRelation {
  NsRelation base;
  NsContact contact;
} ContactRelation;

static const char *const shapes[] = {
#define X(name) #name,
    NS_SHAPE_LIST(X)
#undef X
        NULL};

/* Flags of the frame's points, which computeh or the shape writes at each evaluation. */
enum { FRAME = NS_FIELD_SETTER | NS_FIELD_LATE | NS_FIELD_STATE };

static const NsField fields[] = {NS_RELATION_FIELDS,
                                 NS_FIELD_A_WORD("shape", ContactRelation, contact.shape, shapes, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_NUMBER("R", ContactRelation, contact.R1, 0, INFINITY, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_NUMBER("R1", ContactRelation, contact.R1, 0, INFINITY, NS_FIELD_ALIAS),
                                 NS_FIELD_A_NUMBER("R2", ContactRelation, contact.R2, 0, INFINITY, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_NUMBER("L1", ContactRelation, contact.L1, 0, INFINITY, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_NUMBER("L2", ContactRelation, contact.L2, 0, INFINITY, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("corner", ContactRelation, contact.corner, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("along", ContactRelation, contact.along, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("point", ContactRelation, contact.point, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("normal", ContactRelation, contact.normal, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("side", ContactRelation, contact.side, NS_FIELD_CONSTANT),
                                 NS_FIELD_A_POINT("pc1", ContactRelation, contact.frame.pc1, FRAME),
                                 NS_FIELD_A_POINT("pc2", ContactRelation, contact.frame.pc2, FRAME),
                                 NS_FIELD_A_POINT("nc", ContactRelation, contact.frame.nc, FRAME),
                                 NS_FIELD_A_CALLBACK("h", NsRelation, h, NS_FIELD_CONSTANT),
                                 NS_FIELD_END};

static const NsSlot slots[] = {{"computeh", "h", "x", "y", 'm', '1', NS_NATIVE_QT, NULL, 0}};

const char ns_relation_contact_2d_text[] = "Lagrangian2d2DR";
const char ns_relation_contact_1d_text[] = "NewtonEuler1DR";
const char ns_relation_contact_3d_text[] = "NewtonEuler3DR";
const char ns_relation_contact_5d_text[] = "NewtonEuler5DR";
const char ns_relation_contact_6d_text[] = "NewtonEuler6DR";

static bool contact_curvature(const NsRelation *relation, const NsRelationPoint *at, const double *w, double *room,
                              const NsRelationCurvature *out) {
  (void)room;
  return ns_contact_curvature(relation->contact, at->x, w, out->second, out->third);
}

#define CONTACT(kind, rows)                                                                                                    \
  const NsRelationClass ns_relation_##kind = {.model = {.name = ns_relation_##kind##_text,                                     \
                                                        .noun = NS_RELATION_NOUN,                                              \
                                                        .fields = fields,                                                      \
                                                        .slots = slots,                                                        \
                                                        .nslots = 1,                                                           \
                                                        .x = "q"},                                                             \
                                              .family = NS_MECHANICS,                                                          \
                                              .bytes = sizeof(ContactRelation),                                                \
                                              .contact = offsetof(ContactRelation, contact),                                   \
                                              .contact_rows = rows,                                                            \
                                              .curvature = contact_curvature};

CONTACT(contact_2d, NS_CONTACT_PLANE_ROWS)
CONTACT(contact_1d, 1)
CONTACT(contact_3d, 3)
CONTACT(contact_5d, 5)
CONTACT(contact_6d, 6)
