/*
** curve_points.c
** thin_support for the Lua side: of a long curve the points that its picture shows, and the corners of one that goes
** in steps. An axis shows what lies between a and b (in either order) on `length` units of the picture, of which a
** unit is what nobody tells apart; a point whose y is not finite is a gap.
*/
#include "bind/array/curve_points.h"

#include <math.h>

#include "bind/array/vector.h"

typedef struct Axis {
  double a, b, length;
  bool log;
} Axis;

typedef struct Curve {
  const NslVector *x, *y;
  int *kept, count; /* the points that stay, in their order */
} Curve;

static Axis check_axis(lua_State *L, int idx) {
  Axis axis = {luaL_checknumber(L, idx), luaL_checknumber(L, idx + 1), luaL_checknumber(L, idx + 2), lua_toboolean(L, idx + 3)};
  return axis;
}

static double curve_place(const Axis *axis, double x) {
  if (axis->a == axis->b) return 0;
  double s = axis->log ? log(x / axis->a) / log(axis->b / axis->a) : (x - axis->a) / (axis->b - axis->a);
  return s * axis->length;
}

/* The unit in which x lies; all before the picture is -1, all behind it one unit. */
static double curve_unit_of(const Axis *axis, double x) {
  if (axis->log && x <= 0) return axis->a < axis->b ? -1 : axis->length;
  return floor(fmin(fmax(curve_place(axis, x), -1), axis->length));
}

/* The check made again after what may have run a finaliser. */
static void curve_still_alive(lua_State *L, const Curve *c) {
  nsl_vector_alive(L, c->x);
  nsl_vector_alive(L, c->y);
}

/* The curve of the vectors at 1 and 2, with room for all its points. */
static Curve check_curve(lua_State *L, const char *who) {
  Curve c = {nsl_to_vector(L, 1, -1, who, "x"), NULL, NULL, 0};
  c.y = nsl_to_vector(L, 2, c.x->n, who, "y");
  c.kept = lua_newuserdatauv(L, (size_t)c.x->n * sizeof *c.kept + 1, 0);
  curve_still_alive(L, &c);
  return c;
}

static void curve_keep(Curve *c, int i) {
  if (c->count == 0 || c->kept[c->count - 1] < i) c->kept[c->count++] = i;
}

static int curve_push_kept(lua_State *L, const Curve *c) {
  NslVector *u = nsl_push_vector(L, c->count, NULL), *v = nsl_push_vector(L, c->count, NULL);
  curve_still_alive(L, c);
  for (int k = 0; k < c->count; k++) {
    u->data[k] = nsl_element(c->x, c->kept[k]);
    v->data[k] = nsl_element(c->y, c->kept[k]);
  }
  return 2;
}

static bool rises(const NslVector *x) {
  for (int i = 0; i < x->n; i++) {
    if (!isfinite(nsl_element(x, i)) || (i > 0 && nsl_element(x, i) < nsl_element(x, i - 1))) return false;
  }
  return true;
}

/* rises(x): whether all elements are finite and none is below the one before. */
static int f_rises(lua_State *L) {
  lua_pushboolean(L, rises(nsl_to_vector(L, 1, -1, "rises", "x")));
  return 1;
}

/* Keeps first, least, largest and last of the points from `from` on that lie in one unit; where the next begins. */
static int keep_unit(Curve *c, const Axis *axis, int from) {
  int low = from, high = from, to = from;
  double unit = curve_unit_of(axis, nsl_element(c->x, from));
  while (to + 1 < c->x->n && isfinite(nsl_element(c->y, to + 1)) && curve_unit_of(axis, nsl_element(c->x, to + 1)) == unit) {
    to++;
    if (nsl_element(c->y, to) < nsl_element(c->y, low)) low = to;
    if (nsl_element(c->y, to) > nsl_element(c->y, high)) high = to;
  }
  curve_keep(c, from);
  curve_keep(c, low < high ? low : high);
  curve_keep(c, low < high ? high : low);
  curve_keep(c, to);
  return to + 1;
}

/*
** curve_columns(x, y, a, b, length, log): of the points in each unit of the axis x first, least, largest and last, and one
** for each gap. Nothing when x falls somewhere or is not finite.
*/
static int curve_columns(lua_State *L) {
  Axis axis = check_axis(L, 3);
  Curve c = check_curve(L, "columns");
  if (!rises(c.x)) return 0;
  for (int i = 0; i < c.x->n;) {
    if (isfinite(nsl_element(c.y, i))) {
      i = keep_unit(&c, &axis, i);
    } else {
      curve_keep(&c, i++);
      while (i < c.x->n && !isfinite(nsl_element(c.y, i))) i++;
    }
  }
  return curve_push_kept(L, &c);
}

/* curve_distance(x, y, the axis x, the axis y): points a unit away from the last one that was kept; gaps, and the last. */
static int curve_distance(lua_State *L) {
  Axis across = check_axis(L, 3), up = check_axis(L, 7);
  Curve c = check_curve(L, "distance");
  double x = NAN, y = NAN;
  for (int i = 0; i < c.x->n; i++) {
    double u = curve_place(&across, nsl_element(c.x, i)), v = curve_place(&up, nsl_element(c.y, i));
    if (fabs(u - x) < 1 && fabs(v - y) < 1 && i < c.x->n - 1) continue;
    curve_keep(&c, i);
    x = u, y = v;
  }
  return curve_push_kept(L, &c);
}

static bool curve_same(const NslVector *y, int i, int j) {
  return nsl_element(y, i) == nsl_element(y, j);
}

/* A step's corner, moved by at most a unit and half the step to either side: along the axis from `from` towards `to`. */
static double curve_cut(const Axis *axis, double from, double to) {
  if (!axis) return 0;
  double unit = axis->log ? fabs(log(axis->b / axis->a) * from) / axis->length : fabs(axis->b - axis->a) / axis->length;
  double most = fmin(unit, fabs(to - from) / 2);
  return isfinite(most) ? copysign(most, to - from) : 0;
}

typedef struct Stairs {
  const Curve *curve;
  const Axis *across, *up; /* NULL: exact corners */
  char where;              /* the second letter of pre, post, mid */
  NslVector *u, *v;
  int size;
} Stairs;

static void curve_put(Stairs *s, double x, double y) {
  s->u->data[s->size] = x;
  s->v->data[s->size++] = y;
}

/* The corners between the points k and k + 1 of the curve that stay. */
static void curve_put_step(Stairs *s, int k) {
  double x0 = nsl_element(s->curve->x, s->curve->kept[k]), x1 = nsl_element(s->curve->x, s->curve->kept[k + 1]);
  double y0 = nsl_element(s->curve->y, s->curve->kept[k]), y1 = nsl_element(s->curve->y, s->curve->kept[k + 1]);
  double at = s->where == 'i' ? x0 + (x1 - x0) / 2 : s->where == 'o' ? x1 : x0;
  if (s->where != 'r') curve_put(s, at - curve_cut(s->across, x0, x1), y0 + curve_cut(s->up, y0, y1));
  if (s->where != 'o') curve_put(s, at + curve_cut(s->across, x0, x1), y1 - curve_cut(s->up, y0, y1));
}

/*
** corners(x, y, "pre" | "mid" | "post" [, the axis x, the axis y]): the corners of the steps: y[i] up to x[i], around
** it, or from x[i] on. Steps of one height in a row are one step. With axes each corner is moved by up to a unit, so
** that no line is upright or level: those are moved by half a dot by whoever draws dots.
*/
static int corners(lua_State *L) {
  bool exact = lua_isnoneornil(L, 4);
  Axis across = {0}, up = {0};
  if (!exact) across = check_axis(L, 4), up = check_axis(L, 8);
  Curve c = check_curve(L, "corners");
  int n = c.x->n;
  for (int i = 0; i < n; i++) {
    if (i == 0 || i == n - 1 || !curve_same(c.y, i, i - 1) || !curve_same(c.y, i, i + 1)) curve_keep(&c, i);
  }
  Stairs s = {&c, exact ? NULL : &across, exact ? NULL : &up, luaL_checkstring(L, 3)[1], NULL, NULL, 0};
  int size = c.count;
  for (int k = 0; k + 1 < c.count; k++) {
    if (!curve_same(c.y, c.kept[k], c.kept[k + 1])) size += s.where == 'i' ? 2 : 1;
  }
  s.u = nsl_push_vector(L, size, NULL), s.v = nsl_push_vector(L, size, NULL);
  curve_still_alive(L, &c);
  for (int k = 0; k < c.count; k++) {
    curve_put(&s, nsl_element(c.x, c.kept[k]), nsl_element(c.y, c.kept[k]));
    if (k + 1 < c.count && !curve_same(c.y, c.kept[k], c.kept[k + 1])) curve_put_step(&s, k);
  }
  return 2;
}

void nsl_open_thin(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"rises", f_rises}, {"columns", curve_columns}, {"distance", curve_distance}, {"corners", corners}, {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "thin_support");
}
