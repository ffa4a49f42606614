/*
** scene.h
** A scene: shapes of bodies, the half-spaces (in the plane: half-planes) that they touch, and the contacts that come and go.
**
** A contact has a slot, a number from 0 that names it for as long as the scene lives. A search finds the contacts that are near and not linked;
** the caller links them and says so. Shapes stand in the order in which they were added, and a search finds contacts in the order of their
** shapes: it depends on the places alone, not on earlier searches.
*/
#pragma once

#include <stdbool.h>

#include "contact/mesh.h"

/*
** A ball in the axes of its body; a corner has the radius 0. In the plane the third coordinate is 0. A ball with an
** axis touches while it stands: while the axis is nearly the normal. With ring > 0 it is a rim of that radius around `at`, and touches with its lowest
** point while it does not stand.
*/
typedef struct NsSceneBall {
  double at[3], radius, ring, axis[3];
} NsSceneBall;

/*
** A shape. Its balls touch half-spaces. With around > 0 it lies within that distance of `centre`, a point in its body's axes, and touches other such
** shapes: as a solid, if it has one, else as a ball around the origin, or, in the plane, as a capsule whose segment has the half length `half` along
** the body's first axis. A mesh, which has no body, touches all solids.
*/
typedef struct NsSceneShape {
  const double *
      q; /* borrowed; n coordinates: (x, y, angle), a position, or a position and a quaternion. NULL, 0: it is a part of the world */
  int n, nballs;
  double around, half, centre[3];
  double lead; /* see ns_scene_lead */
  double sunk,
      out[3];  /* of a search: how deep a thin body is in a polyline that its centre is near, 0: it is not; the way out */
  int sunk_in; /* the shape of this polyline */
  NsSceneBall *balls; /* nballs */
  const NsSolid *solid;
  NsMesh *mesh;      /* both are borrowed */
  int home;          /* see ns_scene_among; of the world -1 */
  const void *owner; /* for the caller */
} NsSceneShape;

/* The points x with (x - point) . normal >= 0 are free; the normal has length 1. */
typedef struct NsSceneHalf {
  double point[3], normal[3];
} NsSceneHalf;

/*
** A contact: of the shapes `first` and `second`, or, with second < 0, of shape `first` and half-space -1 - second. With a touch, `first` has the
** features that are named first, and is never a part of the world.
*/
typedef struct NsSceneContact {
  int first, second;
  int triangle;  /* of a mesh; else 0 */
  uint64_t part; /* the number of the contact among the contacts of the two, from 0, or the features of its touch */
  bool linked;
  bool mirrored;        /* the features of the touch belong to `second`, and then to `first` */
  NsTouch *touch;       /* NULL: there are no features */
  long seen;            /* the search that has found it last */
  long looked;          /* the look that has found the touch last */
  const void *follower; /* a relation that follows the surface of one of the two beyond the features, borrowed; NULL: none */
  long parted;          /* how many searches there had been when it was last unlinked, or made */
  const double *gap;    /* of a linked contact: its present gap, borrowed */
  const void *owner;    /* for the caller */
} NsSceneContact;

/* What a contact is, without what it is now, in numbers of full width: as its bytes it is kept in files. kind: -1 without a touch. */
enum { NS_SCENE_NUMBERS = 22 };
typedef struct NsSceneOrigin {
  int64_t first, second, triangle, mirrored, kind, swapped;
  uint64_t part;
  double numbers[NS_SCENE_NUMBERS]; /* R1, R2, L1, L2 and the vectors of the touch */
} NsSceneOrigin;

typedef struct NsScene NsScene;

/* space: 2 or 3. reach: contacts with a gap up to it are near. NS_ENOMEM. */
NsStatus ns_scene_new(NsScene **scene, int space, double reach);
void ns_scene_free(NsScene *scene);

/*
** A scene of the shapes and contacts of another one, none of them linked; contacts keep their slots. shapes: those of `from`, of bodies that may be others.
** *to is to be freed also after a failure. NS_ENOMEM.
*/
NsStatus ns_scene_copy(NsScene **to, const NsScene *from, const NsSceneShape *shapes);

/* Adds a shape, whose balls are copied, or a half-space. NS_ENOMEM. */
NsStatus ns_scene_add(NsScene *scene, const NsSceneShape *shape);
NsStatus ns_scene_add_half(NsScene *scene, const NsSceneHalf *half);

/* Contacts with a gap up to `reach` are near from now on. */
void ns_scene_set_reach(NsScene *scene, double reach);

/* A shape that moves by up to `way` until the next search is looked for so much farther. */
void ns_scene_lead(NsScene *scene, int shape, double way);

/* Sets by how much it leads, as of another scene of these shapes. */
void ns_scene_set_lead(NsScene *scene, int shape, double lead);

/*
** Finds the contacts that are near and not linked: *found gets their slots (nfound), valid until the next call. NS_ENAN: shape *bad has no
** finite place, or one that is too far from the origin; NS_ENOMEM.
*/
NsStatus ns_scene_search(NsScene *scene, const int **found, int *nfound, int *bad);

/*
** How scenes ask a follower for its present frame: the coordinates q are those of the first shape and of the second one; the point on the first shape,
** the normal that points to it, and the gap. False: there is none.
*/
typedef bool NsSceneFrame(const void *follower, const double *q, double *point, double *normal, double *gap);
void ns_scene_ask(NsScene *scene, NsSceneFrame *frame);

/* In sizes (`around`) of the smaller moving body: how near a contact matters to a look, if it is within the reach, too; the way between two looks, which is less than half of that, so that no contact closes unseen. */
#define NS_SCENE_NEAR 0.05
#define NS_SCENE_LOOK 0.02

/*
** *changed: whether a search at the present places would link a contact that is near (NS_SCENE_NEAR), or would no longer find the touch of a linked one
** that is. Two kinds of contacts do not count: those that the last search has found and the caller has not linked, and those at a place to which a
** linked contact has followed a surface. False in the plane, where features go on around the outlines. Along a way longer than
** NS_SCENE_LOOK pairs of which neither goes on it are left out; else all count, also bodies that a script has moved, but see ns_scene_among. Only the list of near pairs is changed.
** stride: NULL, or what becomes at most the part of the way told to ns_scene_way that bodies may go before the next look: those that
** are far from all others may go far (conservative advancement: Mirtich, Impulse-based dynamic simulation of rigid body systems, 1996).
** Statuses as those of ns_scene_search; along such a way places that are not finite may be left out, too.
*/
NsStatus ns_scene_look(NsScene *scene, bool *changed, double *stride, int *bad);

/*
** Between whom looks look from now on: with NS_SCENE_ALL between all; with NS_SCENE_BETWEEN between bodies with different homes (ns_scene_set_home);
** with the number of a home between those of that home, and the world. Searches find all.
*/
enum { NS_SCENE_ALL = -2, NS_SCENE_BETWEEN = -1 };
void ns_scene_among(NsScene *scene, int among);
void ns_scene_set_home(NsScene *scene, int shape, int home);

/*
** ns_scene_start: a way of the bodies starts where they are. ns_scene_way, at the end of each of its `parts`, which take equal times:
** the longest way that a point of a body goes if it goes in all parts as far as in the longest one so far, in sizes of the smallest body.
*/
void ns_scene_start(NsScene *scene);
double ns_scene_way(NsScene *scene, double parts);

/* The near pairs are found anew at the next search, or look, that needs them: strides depend on them. */
void ns_scene_forget_pairs(NsScene *scene);

/*
** Whether bodies may have met since the last search without contacts: there has been no search since the last call, and a shape has gone more than half
** of the reach since a search or since the last call that said so. It takes the places of ns_scene_start.
*/
bool ns_scene_strayed(NsScene *scene);

/*
** The shapes that overlap now, by a contact that is not linked and that the last search has not found: *found gets their numbers (nfound), two and two,
** the second as in a contact; once for each contact. With features, all contacts of two shapes count as one. Statuses as those of ns_scene_search.
*/
NsStatus ns_scene_met(NsScene *scene, const int **found, int *nfound, int *bad);

/* The slots of the linked contacts whose gap is above `most` and twice what their shapes lead, in the order of slots. NS_ENOMEM. */
NsStatus ns_scene_far(NsScene *scene, double most, const int **found, int *nfound);

/* The slots of the linked contacts with a touch that the last search has not found any more. NS_ENOMEM. */
NsStatus ns_scene_lost(NsScene *scene, const int **found, int *nfound);

void ns_scene_origin(const NsScene *scene, int slot, NsSceneOrigin *origin);
/* The slot of the contact, a new one if it has none: with that touch, unless it has one. NS_EARG: it is none of these shapes; NS_ENOMEM. */
NsStatus ns_scene_recall(NsScene *scene, const NsSceneOrigin *origin, int *slot);

/* A hash of what the shape is. */
uint64_t ns_scene_mark(const NsScene *scene, int shape);

/* Whether the shape is a solid with others of its owner beside it that have faces in one plane with it; whether such a face is this one. */
bool ns_scene_is_flush(const NsScene *scene, int shape);
bool ns_scene_is_flat(const NsScene *scene, int shape, int face);

int ns_scene_space(const NsScene *scene); /* 2 or 3 */
int ns_scene_shapes(const NsScene *scene);
int ns_scene_slots(const NsScene *scene);
NsSceneContact *ns_scene_contact(NsScene *scene, int slot);
/* How many searches there have been, and since the contact was unlinked (0: it is linked). */
long ns_scene_searches(const NsScene *scene);
long ns_scene_apart(const NsScene *scene, int slot);
/* Notes that the contact is not linked any more. */
void ns_scene_unlink(NsScene *scene, int slot);
const NsSceneShape *ns_scene_shape(const NsScene *scene, int shape);
