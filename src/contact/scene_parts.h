/*
** scene_parts.h
** What a scene is made of. Private to contact/.
*/
#pragma once

#include "contact/flush.h"
#include "contact/grid.h"
#include "contact/scene.h"

enum { SCENE_COORDINATES = 7, SCENE_FROM = SCENE_COORDINATES + 1 }; /* the most that a shape has; and its way */

/* of: for each shape what lies beside it, NULL: nothing; NULL when no shape has any. known: how many shapes there were when this was found. */
typedef struct SceneBeside {
  NsFlush **of;
  int known;
  NsArena arena;
} SceneBeside;

/* What the pairs of a scene are gone through for: a search, a look, what ns_scene_met tells. */
typedef enum SceneGoal { SCENE_SEARCHES, SCENE_LOOKS, SCENE_MEETS } SceneGoal;

struct NsScene {
  int space, nshapes, shape_capacity, nhalves, half_capacity, nslots, slot_capacity, table_size, nfound, found_capacity;
  double reach, widest_reach,
      skin; /* widest_reach, skin: of the pairs in the grid, and their margin beyond it; below 0: there are none yet */
  NsSceneShape *shapes;
  NsSceneHalf *halves;
  NsSceneContact *slots;
  int *table;         /* slots by their contact, hashed; -1: none */
  int *found, *round; /* round: the shapes that touch others, in the order of the grid's balls */
  double *places;     /* of the balls of `round`, now; 3 each */
  NsPose *poses;      /* of the bodies of `round`, now; only of those with a solid */
  int nround, *meshes, nmeshes, mesh_capacity;
  long searches, looks;
  long minded;          /* searches when ns_scene_strayed was asked last */
  SceneGoal looking;    /* other than SCENE_SEARCHES: it is a look */
  bool changed;         /* of a look: there is a change */
  int among;            /* see ns_scene_among */
  NsSceneFrame *frame;  /* NULL: nobody follows */
  double *from;         /* 8 for each shape: its coordinates at the last ns_scene_way, and the longest way since the first */
  bool striding;        /* of a look: the stride is asked for */
  bool far;             /* the way told to ns_scene_way is longer than NS_SCENE_LOOK */
  double stride, wider; /* stride: so far; wider: the margin of the pairs in the grid, in ones of scene_skin */
  NsGrid grid;
  NsNarrow narrow;
  SceneBeside beside;
};

/* A ball of a body around its origin, or, in the plane, a capsule: these touch each other without features. */
static inline bool ns_scene_is_ball(const NsSceneShape *a) {
  const double *c = a->centre;
  return a->n > 0 && (a->nballs == 1 || a->half > 0) && c[0] == 0 && c[1] == 0 && c[2] == 0;
}

/*
** How many shapes of `round` go on the way told to ns_scene_way; SCENE_FEW + 1: more than SCENE_FEW, up to which they are in `going`. Bodies that no
** contacts join go on a way of their own each: so few are asked against all others one by one, as a search by the grid takes longer.
*/
enum { SCENE_FEW = 16 };
int ns_scene_going(const NsScene *scene, int *going);

/* Whether looks are not about the shapes i and j (below 0: a half-space): see ns_scene_among. */
bool ns_scene_is_aside(const NsScene *scene, int i, int j);

/* Whether the last search has found a contact of the two shapes, or one of theirs is linked. */
bool ns_scene_knows_pair(const NsScene *scene, const NsSceneContact *contact);

/* Finds which solids lie beside each other, when shapes have come. NS_ENOMEM. */
NsStatus ns_scene_find_flush(NsScene *scene);

/* Has a touch of the shapes i and j name its flat part; one, other: the shapes of its features. */
void ns_scene_order(NsTouch *touch, int i, int j, int *one, int *other);

/* In the plane: a body that is thin may sink through a polyline with its centre, too, as in the step of an impact; its linked contacts tell on which side it is. */
void ns_scene_note_sunk(NsScene *scene);
