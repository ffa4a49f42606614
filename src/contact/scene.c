/*
** scene.c
** A scene: which contacts are near. Near pairs come from the grid with a margin beyond the reach; its list stays until a shape has moved by half of
** that margin.
*/
#include "contact/scene_parts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/* The margin beyond the reach, a part of the largest shape's size: 0.2 halves the time of a heap that settles, 1 doubles the time of a heap at rest. */
static const double scene_skin = 0.2;

NsStatus ns_scene_new(NsScene **scene, int space, double reach) {
  NsScene *s = *scene = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->space = space, s->reach = reach, s->skin = -1, s->wider = 1, s->among = NS_SCENE_ALL;
  return NS_OK;
}

void ns_scene_free(NsScene *scene) {
  if (!scene) return;
  for (int i = 0; i < scene->nshapes; i++) ns_free(scene->shapes[i].balls);
  for (int i = 0; i < scene->nslots; i++) ns_free(scene->slots[i].touch);
  ns_free(scene->shapes);
  ns_free(scene->halves);
  ns_free(scene->slots);
  ns_free(scene->table);
  ns_free(scene->found);
  ns_free(scene->round);
  ns_free(scene->places);
  ns_free(scene->poses);
  ns_free(scene->meshes);
  ns_free(scene->from);
  ns_narrow_free(&scene->narrow);
  ns_arena_release(&scene->beside.arena);
  ns_grid_free(&scene->grid);
  ns_free(scene);
}

/* Makes space for one more entry of the array at `array` (n of *capacity are taken). */
static NsStatus scene_grow(void *array, int n, int *capacity, size_t size) {
  if (n < *capacity) return NS_OK;
  void **at = array, *grown = ns_resize(*at, 2 * (size_t)n + 16, size);
  if (!grown) return NS_ENOMEM;
  *at = grown, *capacity = 2 * n + 16;
  return NS_OK;
}

NsStatus ns_scene_add(NsScene *s, const NsSceneShape *shape) {
  int before = s->shape_capacity;
  if (scene_grow(&s->shapes, s->nshapes, &s->shape_capacity, sizeof *s->shapes) != NS_OK) return NS_ENOMEM;
  if (s->shape_capacity != before) {
    int *round = ns_resize(s->round, (size_t)s->shape_capacity, sizeof *round);
    if (round) s->round = round;
    double *longer = ns_resize(s->places, 3 * (size_t)s->shape_capacity, sizeof *longer);
    if (longer) s->places = longer;
    NsPose *poses = ns_resize(s->poses, (size_t)s->shape_capacity, sizeof *poses);
    if (poses) s->poses = poses;
    double *from = ns_resize(s->from, SCENE_FROM * (size_t)s->shape_capacity, sizeof *from);
    if (from) s->from = from;
    if (!round || !longer || !poses || !from) return s->shape_capacity = before, NS_ENOMEM;
  }
  if (shape->mesh && scene_grow(&s->meshes, s->nmeshes, &s->mesh_capacity, sizeof *s->meshes) != NS_OK) return NS_ENOMEM;
  NsSceneBall *balls = ns_alloc((size_t)shape->nballs, sizeof *balls);
  if (!balls) return NS_ENOMEM;
  if (shape->nballs > 0) memcpy(balls, shape->balls, (size_t)shape->nballs * sizeof *balls);
  s->shapes[s->nshapes] = *shape;
  s->shapes[s->nshapes].balls = balls, s->shapes[s->nshapes].home = shape->n > 0 ? 0 : -1;
  memset(s->from + SCENE_FROM * (ptrdiff_t)s->nshapes, 0, SCENE_FROM * sizeof *s->from);
  if (shape->around > 0) s->round[s->nround++] = s->nshapes;
  if (shape->mesh) s->meshes[s->nmeshes++] = s->nshapes;
  s->nshapes++, s->skin = -1;
  return NS_OK;
}

NsStatus ns_scene_add_half(NsScene *s, const NsSceneHalf *half) {
  if (scene_grow(&s->halves, s->nhalves, &s->half_capacity, sizeof *s->halves) != NS_OK) return NS_ENOMEM;
  return s->halves[s->nhalves++] = *half, NS_OK;
}

/* The grid's pairs hold for a smaller reach, too; with one of a half of theirs they are too many. */
void ns_scene_set_reach(NsScene *s, double reach) {
  s->reach = reach;
  if (reach > s->widest_reach || 2 * reach < s->widest_reach) s->skin = -1;
}

void ns_scene_lead(NsScene *s, int shape, double way) {
  double *lead = &s->shapes[shape].lead;
  if (way <= *lead && way >= *lead / 4) return;
  *lead = 1.5 * way, s->skin = -1;
}

void ns_scene_set_lead(NsScene *s, int shape, double lead) {
  s->shapes[shape].lead = lead, s->skin = -1;
}

int ns_scene_space(const NsScene *s) {
  return s->space;
}
int ns_scene_shapes(const NsScene *scene) {
  return scene->nshapes;
}
int ns_scene_slots(const NsScene *scene) {
  return scene->nslots;
}
NsSceneContact *ns_scene_contact(NsScene *scene, int slot) {
  return &scene->slots[slot];
}
long ns_scene_searches(const NsScene *s) {
  return s->searches;
}
long ns_scene_apart(const NsScene *s, int slot) {
  return s->slots[slot].linked ? 0 : s->searches - s->slots[slot].parted;
}
void ns_scene_unlink(NsScene *s, int slot) {
  NsSceneContact *c = &s->slots[slot];
  c->gap = NULL, c->owner = NULL, c->linked = false, c->parted = s->searches;
}
const NsSceneShape *ns_scene_shape(const NsScene *scene, int shape) {
  return &scene->shapes[shape];
}

/* ---- slots ---- */

/* The entry of the table that has the contact's slot, or the empty one for it. */
static int *scene_entry(const NsScene *s, const NsSceneContact *c) {
  uint64_t h = (uint64_t)c->first * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(int64_t)c->second * UINT64_C(0xc2b2ae3d27d4eb4f) +
               (c->part + ((uint64_t)c->triangle << 17)) * UINT64_C(0x165667b19e3779f9);
  uint64_t mask = (uint64_t)(s->table_size - 1), at = (h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) >> 32 & mask;
  for (; s->table[at] >= 0; at = (at + 1) & mask) {
    const NsSceneContact *other = &s->slots[s->table[at]];
    if (other->first == c->first && other->second == c->second && other->part == c->part && other->triangle == c->triangle)
      break;
  }
  return &s->table[at];
}

/* Makes space for one more slot; the table is at most half full. */
static NsStatus scene_more_slots(NsScene *s) {
  if (scene_grow(&s->slots, s->nslots, &s->slot_capacity, sizeof *s->slots) != NS_OK) return NS_ENOMEM;
  if (2 * (s->nslots + 1) <= s->table_size) return NS_OK;
  int size = s->table_size ? 2 * s->table_size : 64, *table = ns_resize(s->table, (size_t)size, sizeof *table);
  if (!table) return NS_ENOMEM;
  s->table = table, s->table_size = size;
  for (int k = 0; k < size; k++) table[k] = -1;
  for (int slot = 0; slot < s->nslots; slot++) *scene_entry(s, &s->slots[slot]) = slot;
  return NS_OK;
}

/* The slot of a contact, a new one if it has none; -1: no memory, also for one more found slot. */
static int scene_slot(NsScene *s, NsSceneContact c) {
  if (scene_more_slots(s) != NS_OK || scene_grow(&s->found, s->nfound, &s->found_capacity, sizeof *s->found) != NS_OK)
    return -1;
  int *entry = scene_entry(s, &c);
  c.parted = s->searches;
  if (*entry < 0) s->slots[ *entry = s->nslots++] = c;
  return *entry;
}

/* The size of the smaller moving one of the shapes i and j (-1: a half-space); 0: none moves. */
static double scene_size(const NsScene *s, int i, int j) {
  double size = s->shapes[i].n > 0 ? s->shapes[i].around : INFINITY;
  if (j >= 0 && s->shapes[j].n > 0) size = fmin(size, s->shapes[j].around);
  return isfinite(size) ? size : 0;
}

/* How near contacts of the shapes i and j (-1: a half-space) matter to a look. */
static double scene_near(const NsScene *s, int i, int j) {
  return fmin(NS_SCENE_NEAR * scene_size(s, i, j), s->reach);
}

static double scene_way(const NsScene *s, int i) {
  return i >= 0 ? s->from[SCENE_FROM * (ptrdiff_t)i + SCENE_COORDINATES] : 0;
}

/*
** Whether a look leaves out the shapes i and j (below 0: a half-space): it is not about them, or neither goes on a long way along which looks are, so that
** nothing comes or goes between them on it.
*/
static bool scene_is_still(const NsScene *s, int i, int j) {
  if (!s->looking) return false;
  return ns_scene_is_aside(s, i, j) || (s->far && !(scene_way(s, i) > 0) && !(scene_way(s, j) > 0));
}

/* Notes that the shapes i and j (-1: a half-space) are at least `apart`: no contact of theirs matters before they have gone this way. */
static void scene_note_apart(NsScene *s, int i, int j, double apart) {
  double ways = scene_way(s, i) + scene_way(s, j), size = scene_size(s, i, j);
  if (s->striding && ways > 0 && size > 0)
    s->stride = fmin(s->stride, fmax(apart - scene_near(s, i, j), NS_SCENE_LOOK * size) / ways);
}

/* The features of a touch between two shapes where they are now; false: there is no gap. */
static bool scene_features(const NsScene *s, const NsTouch *t, int one, int other, NsFeatures *f) {
  const NsSceneShape *a = &s->shapes[one], *b = &s->shapes[other];
  NsPose first = ns_pose(a->q, a->n, s->space == 2), second = ns_pose(b->q, b->n, s->space == 2);
  *f = (NsFeatures){.R1 = t->R1, .R2 = t->R2, .L1 = t->L1, .L2 = t->L2};
  ns_place(&first, t->corner, f->corner), ns_turn(&first, t->along, f->along);
  ns_place(&second, t->point, f->point), ns_turn(&second, t->normal, f->normal), ns_turn(&second, t->side, f->side);
  return ns_features_gap(t->kind, f) == 0;
}

/* Parts of the size within which a touch and the frame of a follower have one gap, and are at one place; of two places of a body one normal, as a cosine. */
static const double same_gap = 1e-9, same_place = 1e-3, same_normal = 1 - 1e-6;

/* Whether the follower of the linked contact c has come to the touch, whose features are those of the shapes `one` and `other`. */
static bool scene_stands_for(const NsScene *s, const NsSceneContact *c, int one, const NsFeatures *f) {
  double q[2 * SCENE_COORDINATES], point[3], normal[3], way[3], gap, size = s->shapes[c->first].around;
  const NsSceneShape *a = &s->shapes[c->first], *b = &s->shapes[c->second];
  memcpy(q, a->q, (size_t)a->n * sizeof *q);
  if (b->n > 0) memcpy(q + a->n, b->q, (size_t)b->n * sizeof *q);
  if (!s->frame(c->follower, q, point, normal, &gap)) return false;
  bool mirrored = one != c->first;
  ns_sub3(point, mirrored ? f->p2 : f->p1, way);
  return fabs(gap - f->gap) <= same_gap * size && ns_length3(way) <= same_place * size &&
         (mirrored ? -1 : 1) * ns_dot3(normal, f->n) >= same_normal;
}

/* Whether a linked contact of the shapes `one` and `other` has followed a surface to the touch. */
static bool scene_is_followed(const NsScene *s, const NsTouch *t, int one, int other) {
  NsFeatures f;
  if (!s->frame || !scene_features(s, t, one, other, &f)) return false;
  for (const NsSceneContact *c = s->slots; c < s->slots + s->nslots; c++) {
    bool pair = (c->first == one && c->second == other) || (c->first == other && c->second == one);
    if (pair && c->linked && c->follower && scene_stands_for(s, c, one, &f)) return true;
  }
  return false;
}

/* Whether the contact is of a ball with an axis and a half-space: it gives way to others as the body turns. */
static bool scene_has_axis(const NsScene *s, const NsSceneContact *c) {
  if (c->second >= 0) return false;
  const NsSceneBall *ball = &s->shapes[c->first].balls[c->part];
  return ball->ring > 0 || ns_dot3(ball->axis, ball->axis) > 0;
}

/* Notes the two shapes of a contact of which the last search did not know, where they overlap. features: it has some, which change as the bodies turn. */
static NsStatus scene_meet(NsScene *s, const NsSceneContact *c, double gap, bool features) {
  if (!(gap < 0)) return NS_OK;
  int slot = s->table_size > 0 ? *scene_entry(s, c) : -1;
  const NsSceneContact *known = slot >= 0 ? &s->slots[slot] : NULL;
  if (known && (known->linked || known->seen == s->searches)) return NS_OK;
  if (features && ns_scene_knows_pair(s, c)) return NS_OK;
  for (int k = 0; k < 2; k++) {
    if (scene_grow(&s->found, s->nfound, &s->found_capacity, sizeof *s->found) != NS_OK) return NS_ENOMEM;
    s->found[s->nfound++] = k == 0 ? c->first : c->second;
  }
  return NS_OK;
}

/*
** A contact that a look has found: a change where it is near, not linked, and has not been offered by the last search. With a touch: the features are of
** the shapes `one` and `other`.
*/
static NsStatus scene_look_at(NsScene *s, const NsSceneContact *c, double gap, const NsTouch *t, int one, int other) {
  if (s->looking == SCENE_MEETS) return scene_meet(s, c, gap, t || scene_has_axis(s, c));
  int slot = s->table_size > 0 ? *scene_entry(s, c) : -1;
  NsSceneContact *known = slot >= 0 ? &s->slots[slot] : NULL;
  if (known) known->looked = s->looks;
  if (s->changed || (known && (known->linked || known->seen == s->searches))) return NS_OK;
  s->changed = gap <= scene_near(s, c->first, c->second) && !(t && scene_is_followed(s, t, one, other));
  return NS_OK;
}

/* Notes a contact that is near, unless it is linked. */
static NsStatus scene_note(NsScene *s, int first, int second, int part, double gap) {
  NsSceneContact c = {.first = first, .second = second, .part = (uint64_t)part};
  if (s->looking) return scene_look_at(s, &c, gap, NULL, 0, 0);
  int slot = scene_slot(s, c);
  if (slot < 0) return NS_ENOMEM;
  s->slots[slot].seen = s->searches;
  if (!s->slots[slot].linked) s->found[s->nfound++] = slot;
  return NS_OK;
}

/* ---- slots in files ---- */

/* The numbers of a touch that its relation reads, in one order. */
static void scene_touch_numbers(NsTouch *t, double *numbers, bool read) {
  double *parts[] = {&t->R1, &t->R2, &t->L1, &t->L2, t->corner, t->along, t->point, t->normal, t->side, t->n};
  for (int k = 0, at = 0; k < 10; at += k++ < 4 ? 1 : 3)
    memcpy(read ? parts[k] : numbers + at, read ? numbers + at : parts[k], (k < 4 ? 1 : 3) * sizeof *numbers);
}

void ns_scene_origin(const NsScene *s, int slot, NsSceneOrigin *o) {
  const NsSceneContact *c = &s->slots[slot];
  memset(o, 0, sizeof *o);
  o->first = c->first, o->second = c->second, o->triangle = c->triangle, o->mirrored = c->mirrored, o->part = c->part;
  o->kind = c->touch ? (int64_t)c->touch->kind : -1;
  if (c->touch) o->swapped = c->touch->swapped, scene_touch_numbers(c->touch, o->numbers, false);
}

/* Whether there can be such a contact. */
static bool scene_fits(const NsScene *s, const NsSceneOrigin *o) {
  if (o->first < 0 || o->first >= s->nshapes || o->second < -s->nhalves || o->second >= s->nshapes) return false;
  if (o->kind < -1 || o->kind > NS_TOUCH_RING_RING || s->shapes[o->first].n == 0) return false;
  if (o->second < 0) return o->kind < 0 && o->part < (uint64_t)s->shapes[o->first].nballs;
  const NsMesh *mesh = s->shapes[o->second].mesh;
  return o->triangle >= 0 && o->triangle <= (mesh ? ns_mesh_triangles(mesh) : 0);
}

NsStatus ns_scene_recall(NsScene *s, const NsSceneOrigin *o, int *slot) {
  if (!scene_fits(s, o)) return NS_EARG;
  NsSceneContact c = {.first = (int)o->first,
                      .second = (int)o->second,
                      .triangle = (int)o->triangle,
                      .part = o->part,
                      .mirrored = o->mirrored != 0};
  s->nfound = 0;
  *slot = scene_slot(s, c);
  if (*slot < 0) return NS_ENOMEM;
  NsSceneContact *contact = &s->slots[*slot];
  if (o->kind < 0 || contact->touch) return NS_OK;
  contact->touch = ns_alloc(1, sizeof *contact->touch);
  if (!contact->touch) return NS_ENOMEM;
  contact->mirrored = c.mirrored, contact->touch->swapped = o->swapped != 0;
  contact->touch->kind = (NsTouchKind)o->kind, contact->touch->id = o->part, contact->touch->triangle = c.triangle;
  double numbers[NS_SCENE_NUMBERS];
  memcpy(numbers, o->numbers, sizeof numbers);
  scene_touch_numbers(contact->touch, numbers, true);
  return NS_OK;
}

/* ---- touches ---- */

/* The reach of two shapes, with the ways by which they lead. */
static double scene_reach(const NsScene *s, int i, int j) {
  return s->reach + s->shapes[i].lead + s->shapes[j].lead;
}

/* Notes the touches of the shapes i and j: of those up to twice the reach the ones that are linked, else up to the reach. */
static NsStatus scene_note_touches(NsScene *s, int i, int j) {
  for (int k = 0; k < s->narrow.n; k++) {
    NsTouch *t = &s->narrow.touches[k];
    int one, other;
    ns_scene_order(t, i, j, &one, &other);
    NsSceneContact c = {.first = one, .second = other, .triangle = t->triangle, .part = t->id};
    bool world = s->shapes[one].n == 0;
    if (world) c.first = other, c.second = one;
    if (s->looking) {
      if (scene_look_at(s, &c, t->gap, t, one, other) != NS_OK) return NS_ENOMEM;
      continue;
    }
    int slot = scene_slot(s, c);
    if (slot < 0) return NS_ENOMEM;
    NsSceneContact *contact = &s->slots[slot];
    bool again = contact->seen == s->searches;
    if (again || (!contact->linked && t->gap > scene_reach(s, i, j))) continue;
    contact->seen = s->searches;
    if (contact->linked) continue;
    if (!contact->touch && !(contact->touch = ns_alloc(1, sizeof *contact->touch))) return NS_ENOMEM;
    *contact->touch = *t;
    bool alike = ns_touch_forms[t->kind].alike;
    if (world && alike) ns_touch_exchange(contact->touch);
    contact->mirrored = world && !alike;
    s->found[s->nfound++] = slot;
  }
  return NS_OK;
}

/* The ways by which the shapes of a contact lead. */
static double scene_lead(const NsScene *s, int slot) {
  const NsSceneContact *c = &s->slots[slot];
  return s->shapes[c->first].lead + (c->second >= 0 ? s->shapes[c->second].lead : 0);
}

/* The place of a ball of the shape. */
static void scene_place(const NsScene *s, const NsSceneShape *shape, const double *c, double *out) {
  const double *q = shape->q, *e = q + 3;
  if (s->space == 2) {
    double cs = cos(q[2]), sn = sin(q[2]);
    out[0] = q[0] + cs * c[0] - sn * c[1], out[1] = q[1] + sn * c[0] + cs * c[1], out[2] = 0;
    return;
  }
  memcpy(out, q, 3 * sizeof *out);
  if (shape->n == 3) return;
  double x = e[2] * c[2] - e[3] * c[1] + e[0] * c[0], y = e[3] * c[0] - e[1] * c[2] + e[0] * c[1],
         z = e[1] * c[1] - e[2] * c[0] + e[0] * c[2];
  out[0] += c[0] + 2 * (e[2] * z - e[3] * y);
  out[1] += c[1] + 2 * (e[3] * x - e[1] * z);
  out[2] += c[2] + 2 * (e[1] * y - e[2] * x);
}

/* The sine of the angle between the axis of a ball and a direction in space; 0: it has no axis. */
static double scene_sine(const NsScene *s, const NsSceneShape *shape, const NsSceneBall *ball, const double *n) {
  double end[3], from[3], to[3], out[3];
  if (ns_dot3(ball->axis, ball->axis) == 0) return 0;
  ns_add3(ball->at, 1, ball->axis, end);
  scene_place(s, shape, ball->at, from), scene_place(s, shape, end, to);
  ns_sub3(to, from, to);
  return ns_rim3(to, n, out);
}

/* Whether a rim touches with its lowest point, a ball with an axis by itself. */
static bool scene_touches(const NsSceneBall *ball, double sine) {
  return (ball->ring > 0) == (sine >= ns_ring_standing);
}

/* Whether a contact of a ball and a half-space has given way to others, as of a cylinder that stands now. */
static bool scene_gave_way(const NsScene *s, const NsSceneContact *c) {
  if (c->second >= 0) return false;
  const NsSceneShape *shape = &s->shapes[c->first];
  const NsSceneBall *ball = &shape->balls[c->part];
  return !scene_touches(ball, scene_sine(s, shape, ball, s->halves[-1 - c->second].normal));
}

NsStatus ns_scene_far(NsScene *s, double most, const int **found, int *nfound) {
  s->nfound = 0;
  for (int slot = 0; slot < s->nslots; slot++) {
    const NsSceneContact *c = &s->slots[slot];
    if (!c->linked || c->touch) continue;
    if (!(*c->gap > most + 2 * scene_lead(s, slot)) && !scene_gave_way(s, c)) continue;
    if (scene_grow(&s->found, s->nfound, &s->found_capacity, sizeof *s->found) != NS_OK) return NS_ENOMEM;
    s->found[s->nfound++] = slot;
  }
  return *found = s->found, *nfound = s->nfound, NS_OK;
}

NsStatus ns_scene_lost(NsScene *s, const int **found, int *nfound) {
  s->nfound = 0;
  for (int slot = 0; slot < s->nslots; slot++) {
    if (!s->slots[slot].linked || !s->slots[slot].touch || s->slots[slot].seen == s->searches) continue;
    if (scene_grow(&s->found, s->nfound, &s->found_capacity, sizeof *s->found) != NS_OK) return NS_ENOMEM;
    s->found[s->nfound++] = slot;
  }
  return *found = s->found, *nfound = s->nfound, NS_OK;
}

/* ---- shapes that touch ---- */

/* The gap of a ball of the capsule `one`, at `along` on its first axis, and the whole of the capsule `other`, in the plane. */
static double scene_cap_gap(const NsSceneShape *one, double along, const NsSceneShape *other) {
  const double *p = one->q, *q = other->q;
  double c2 = cos(q[2]), s2 = sin(q[2]), x = p[0] + cos(p[2]) * along - q[0], y = p[1] + sin(p[2]) * along - q[1];
  double foot = fmax(-other->half, fmin(other->half, x * c2 + y * s2));
  x -= foot * c2, y -= foot * s2;
  return sqrt(x * x + y * y) - one->balls[0].radius - other->balls[0].radius;
}

/* Capsules: the balls at the ends of each and the whole of the other one; a ball of its own has one contact with a capsule. */
static NsStatus scene_capsules(NsScene *s, int i, int j) {
  const NsSceneShape *a = &s->shapes[i], *b = &s->shapes[j];
  int part = 0;
  for (int k = 0; k < 2; k++) {
    const NsSceneShape *one = k == 0 ? a : b, *other = k == 0 ? b : a;
    if (one->half > 0 && !(other->half > 0)) continue;
    for (int end = 0; end < one->nballs; end++, part++) {
      double gap = scene_cap_gap(one, one->balls[end].at[0], other);
      if (gap > scene_reach(s, i, j)) continue;
      if (scene_note(s, i, j, part, gap) != NS_OK) return NS_ENOMEM;
    }
  }
  return NS_OK;
}

/* The least gap of the touches of the narrow phase that is below `most`. */
static double scene_least_gap(const NsScene *s, double most) {
  for (int k = 0; k < s->narrow.n; k++) most = fmin(most, s->narrow.touches[k].gap);
  return most;
}

/* Notes how far two solids are apart, whose touches are known. */
static NsStatus scene_measure(NsScene *s, int i, int j, NsPlaced a, NsPlaced b) {
  double apart = scene_least_gap(s, INFINITY), pa[3], pb[3], n[3];
  NsStatus status = NS_OK;
  if (apart > scene_near(s, i, j)) status = ns_narrow_distance(&s->narrow, a, b, &apart, pa, pb, n);
  return scene_note_apart(s, i, j, apart), status;
}

/* Two solids; a ball of a shape without one has no features. */
static NsStatus scene_solids(NsScene *s, const int *pair) {
  int i = s->round[pair[0]], j = s->round[pair[1]];
  NsPlaced a = {s->shapes[i].solid, &s->poses[pair[0]]}, b = {s->shapes[j].solid, &s->poses[pair[1]]};
  if (!a.solid || !b.solid) return NS_OK;
  const NsFlush *one = s->beside.of ? s->beside.of[i] : NULL, *other = s->beside.of ? s->beside.of[j] : NULL;
  NsStatus status = one || other ? ns_flush_touches(&s->narrow, a, one, b, other, 2 * scene_reach(s, i, j))
                                 : ns_narrow_touches(&s->narrow, a, b, 2 * scene_reach(s, i, j));
  if (status == NS_OK) status = scene_note_touches(s, i, j);
  return status == NS_OK && s->striding ? scene_measure(s, i, j, a, b) : status;
}

/* A shape k of `round` and a mesh. */
typedef struct SceneMeet {
  NsScene *s;
  int k, mesh;
} SceneMeet;

static NsStatus scene_triangle(void *context, int triangle) {
  const SceneMeet *m = context;
  NsScene *s = m->s;
  const NsSceneShape *shape = &s->shapes[s->round[m->k]];
  NsPlaced body = {shape->solid, &s->poses[m->k]};
  double sunk = shape->sunk > 0 && shape->sunk_in == m->mesh ? shape->sunk : 0;
  for (int i = 0; i < 3; i++) s->narrow.lift[i] = sunk * shape->out[i];
  NsStatus status = ns_mesh_touches(s->shapes[m->mesh].mesh, triangle, &s->narrow, body,
                                    2 * scene_reach(s, m->mesh, s->round[m->k]));
  if (s->striding) scene_note_apart(s, s->round[m->k], m->mesh, scene_least_gap(s, 2 * s->reach));
  return status == NS_OK ? scene_note_touches(s, m->mesh, s->round[m->k]) : status;
}

/* Sorts the slots found[first, ...) by the features of their touches: the corners of a body on triangles come in the order that they have on a plane. */
static void scene_sort(NsScene *s, int first) {
  for (int i = first + 1; i < s->nfound; i++) {
    int slot = s->found[i], j = i;
    for (; j > first && s->slots[s->found[j - 1]].part > s->slots[slot].part; j--) s->found[j] = s->found[j - 1];
    s->found[j] = slot;
  }
}

static NsStatus scene_meshes(NsScene *s, int k) {
  const NsSceneShape *shape = &s->shapes[s->round[k]];
  NsStatus status = NS_OK;
  if (scene_is_still(s, s->round[k], -1)) return NS_OK;
  for (int l = 0; l < s->nmeshes && status == NS_OK && shape->solid && shape->n > 0; l++) {
    SceneMeet meet = {s, k, s->meshes[l]};
    int first = s->nfound;
    double far = shape->around + 2 * scene_reach(s, meet.mesh, s->round[k]);
    scene_note_apart(s, s->round[k], meet.mesh, 2 * s->reach);
    status = ns_mesh_near(s->shapes[meet.mesh].mesh, s->places + 3 * (ptrdiff_t)k, far, scene_triangle, &meet);
    if (s->space == 3) scene_sort(s, first);
  }
  return status;
}

static NsStatus scene_pair(NsScene *s, const int *pair) {
  int i = s->round[pair[0]], j = s->round[pair[1]];
  const NsSceneShape *a = &s->shapes[i], *b = &s->shapes[j];
  if (a->q == b->q || scene_is_still(s, i, j)) return NS_OK;
  const double *p = &s->places[3 * (ptrdiff_t)pair[0]], *q = &s->places[3 * (ptrdiff_t)pair[1]];
  bool solids = (a->solid || b->solid) && !(ns_scene_is_ball(a) && ns_scene_is_ball(b));
  double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2],
         far = a->around + (solids ? 2 : 1) * scene_reach(s, i, j) + b->around;
  bool away = x * x + y * y + z * z > far * far;
  if (away && !s->striding) return NS_OK;
  double apart = sqrt(x * x + y * y + z * z) - a->around - b->around;
  if (away || !solids) scene_note_apart(s, i, j, apart);
  if (away) return NS_OK;
  if (solids) return scene_solids(s, pair);
  if (a->half > 0 || b->half > 0) return scene_capsules(s, i, j);
  return scene_note(s, i, j, 0, apart);
}

/* ---- half-spaces ---- */

static NsStatus scene_halves(NsScene *s, int i) {
  const NsSceneShape *shape = &s->shapes[i];
  if (scene_is_still(s, i, -1)) return NS_OK;
  const bool *inner = s->beside.of && s->beside.of[i] && shape->nballs == shape->solid->nvertices ? s->beside.of[i]->inner
                                                                                                  : NULL;
  for (int k = 0; k < shape->nballs && s->nhalves > 0 && shape->n > 0; k++) {
    double at[3];
    if (inner && inner[k]) continue;
    scene_place(s, shape, shape->balls[k].at, at);
    for (int l = 0; l < s->nhalves; l++) {
      const double *p = s->halves[l].point, *n = s->halves[l].normal;
      double distance = (at[0] - p[0]) * n[0] + (at[1] - p[1]) * n[1] + (at[2] - p[2]) * n[2];
      double sine = scene_sine(s, shape, &shape->balls[k], n);
      distance -= shape->balls[k].radius + shape->balls[k].ring * sine;
      scene_note_apart(s, i, -1, distance);
      if (scene_touches(&shape->balls[k], sine) && distance <= s->reach + shape->lead &&
          scene_note(s, i, -1 - l, k, distance) != NS_OK)
        return NS_ENOMEM;
    }
  }
  return NS_OK;
}

/* ---- the search ---- */

/* Reads the places of the shapes that touch others; moved: whether the grid's pairs may have become too few. */
static bool scene_read_places(NsScene *s) {
  bool moved = s->skin < 0;
  for (int k = 0; k < s->nround; k++) {
    const NsSceneShape *shape = &s->shapes[s->round[k]];
    const double *q = shape->q;
    double *p = s->places + 3 * (ptrdiff_t)k;
    const double *old = s->grid.places + 3 * (ptrdiff_t)k;
    if (shape->solid) {
      s->poses[k] = ns_pose(q, shape->n, s->space == 2);
      ns_place(&s->poses[k], shape->centre, p);
    } else {
      p[0] = q[0], p[1] = q[1], p[2] = s->space == 3 ? q[2] : 0;
    }
    if (moved) continue;
    double x = p[0] - old[0], y = p[1] - old[1], z = p[2] - old[2];
    moved = !(x * x + y * y + z * z <= s->skin * s->skin / 4);
  }
  return moved;
}

/* Notes how far shapes may go before the grid lacks pairs that matter: half of its margin and of the reach. */
static void scene_note_margin(NsScene *s) {
  for (int k = 0; k < s->nround; k++) {
    double way = scene_way(s, s->round[k]), moved[3];
    ns_sub3(s->places + 3 * (ptrdiff_t)k, s->grid.places + 3 * (ptrdiff_t)k, moved);
    if (way > 0) s->stride = fmin(s->stride, (s->skin / 2 - ns_length3(moved) + s->reach / 2) / way);
  }
}

/* Looks along a way that leaves the grid's margin again and again take a wider one, where few pairs are near. */
static void scene_widen(NsScene *s) {
  enum { FEW = 4 };
  if (s->striding && s->skin >= 0 && s->grid.npairs <= FEW * s->nround) s->wider *= 2;
}

static NsStatus scene_rebuild(NsScene *s, int *bad) {
  double widest = 0;
  scene_widen(s), s->skin = -1;
  if (ns_grid_resize(&s->grid, s->nround) != NS_OK) return NS_ENOMEM;
  for (int k = 0; k < s->nround; k++) {
    const NsSceneShape *shape = &s->shapes[s->round[k]];
    s->grid.radii[k] = shape->around + 2 * shape->lead;
    widest = fmax(widest, shape->around);
  }
  if (s->nround > 0) memcpy(s->grid.places, s->places, 3 * (size_t)s->nround * sizeof *s->places);
  NsStatus status = ns_grid_search(&s->grid, 2 * s->reach + s->wider * scene_skin * widest, bad);
  if (status == NS_ENAN) *bad = s->round[*bad];
  if (status == NS_OK) s->widest_reach = s->reach, s->skin = s->wider * scene_skin * widest;
  return status;
}

/* What comes and goes between the shape going[g], of the `count` ones that go on the way, and all others. */
static NsStatus scene_visit_one(NsScene *s, const int *going, int count, int g) {
  NsStatus status = NS_OK;
  for (int l = 0, next = 0; l < s->nround && status == NS_OK; l++) {
    bool before = next < count && going[next] == l && next++ <= g; /* that one has met it, or is it */
    if (!before) status = scene_pair(s, (const int[]){l < going[g] ? l : going[g], l < going[g] ? going[g] : l});
  }
  if (status == NS_OK) status = scene_halves(s, s->round[going[g]]);
  return status == NS_OK ? scene_meshes(s, going[g]) : status;
}

/* Goes through the pairs that may be near. */
static NsStatus scene_visit(NsScene *s, int *bad) {
  NsStatus status = NS_OK;
  if (ns_scene_find_flush(s) != NS_OK) return NS_ENOMEM;
  int going[SCENE_FEW], count = s->looking && s->far ? ns_scene_going(s, going) : SCENE_FEW + 1;
  bool few = count <= SCENE_FEW, moved = scene_read_places(s);
  s->nfound = 0;
  for (int g = 0; few && g < count && status == NS_OK; g++) status = scene_visit_one(s, going, count, g);
  if (!few && moved) status = scene_rebuild(s, bad);
  if (!few && s->striding && status == NS_OK) scene_note_margin(s);
  const int *pair = s->grid.pairs, *end = pair + 2 * (ptrdiff_t)s->grid.npairs;
  for (int k = few ? s->nround : 0; status == NS_OK && k < s->nround; k++) {
    for (; status == NS_OK && pair < end && pair[0] == k; pair += 2) status = scene_pair(s, pair);
    if (status == NS_OK) status = scene_halves(s, s->round[k]);
    if (status == NS_OK) status = scene_meshes(s, k);
  }
  for (int i = 0; status == NS_OK && i < s->nshapes; i++)
    if (!(s->shapes[i].around > 0)) status = scene_halves(s, i);
  return status;
}

NsStatus ns_scene_search(NsScene *s, const int **found, int *nfound, int *bad) {
  s->searches++;
  ns_scene_note_sunk(s);
  NsStatus status = scene_visit(s, bad);
  return *found = s->found, *nfound = s->nfound, status;
}

/* ---- looks between two searches ---- */

/* Whether a linked contact has gone that is near. */
static bool scene_has_gone(const NsScene *s, const NsSceneContact *c) {
  NsFeatures f;
  int one = c->mirrored ? c->second : c->first, other = c->mirrored ? c->first : c->second;
  if (!c->linked || c->follower || c->looked == s->looks) return false;
  if (scene_is_still(s, c->first, c->second)) return false;
  if (!c->touch) return scene_gave_way(s, c);
  return scene_features(s, c->touch, one, other, &f) && f.gap <= scene_near(s, c->first, c->second);
}

void ns_scene_ask(NsScene *s, NsSceneFrame *frame) {
  s->frame = frame;
}

NsStatus ns_scene_look(NsScene *s, bool *changed, double *stride, int *bad) {
  *changed = false;
  if (s->space == 2) return NS_OK;
  s->looking = SCENE_LOOKS, s->changed = false, s->looks++;
  s->striding = stride != NULL, s->stride = 1;
  NsStatus status = scene_visit(s, bad);
  for (int slot = 0; slot < s->nslots && status == NS_OK && !s->changed; slot++)
    s->changed = scene_has_gone(s, &s->slots[slot]);
  s->looking = SCENE_SEARCHES, s->striding = false;
  if (stride) *stride = fmin(*stride, s->stride);
  return *changed = s->changed, status;
}

NsStatus ns_scene_met(NsScene *s, const int **found, int *nfound, int *bad) {
  ns_scene_note_sunk(s), ns_scene_start(s);
  s->looking = SCENE_MEETS;
  NsStatus status = scene_visit(s, bad);
  s->looking = SCENE_SEARCHES;
  return *found = s->found, *nfound = s->nfound, status;
}
