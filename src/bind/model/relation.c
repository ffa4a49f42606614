/*
** relation.c
** The first-order and mechanical relations.
*/
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bind/lua/open.h"
#include "bind/call/callback.h"
#include "bind/diff/dual.h"
#include "bind/model/coefficient.h"

/* One for each class, in the order of ns_relation_classes. */
static const NslType types[NS_RELATION_CLASSES] = {
#define X(name) {ns_relation_##name##_text, NULL, NULL},
    NS_RELATION_LIST(X)
#undef X
};

bool nsl_is_relation(const NslType *type) {
  return type >= types && type < types + NS_RELATION_CLASSES;
}

NslRelation *nsl_check_relation(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || !nsl_is_relation(head->type)) return nsl_wrong_type(L, idx, "relation", "relation"), NULL;
  NslRelation *self = (NslRelation *)head;
  if (nsl_is_shut(head)) luaL_error(L, "%s is closed", nsl_callee_title(L, &self->callee));
  return self;
}

/* ---- contacts ---- */

/* Raises that computeh has left the contact without a normal. */
static int raise_normal(lua_State *L) {
  return luaL_error(L, "nc is not set (computeh is to call setpc1, setpc2 and setnc)");
}

static int bind_contact_value(void *context, double t, const double *const *args, double *y) {
  NslRelation *self = context;
  return self->computeh.value(self->computeh.context, t, args, y);
}

static int bind_contact_jacobian(void *context, double t, const double *const *args, int by, double *C) {
  NslRelation *self = context;
  NsContact *contact = self->relation->contact;
  double y[NS_CONTACT_ROWS] = {0};
  if (by != NS_BY_X) return 0;
  int failed = bind_contact_value(context, t, args, y);
  if (failed) return failed;
  const double *n = contact->frame.nc;
  if (n[0] == 0 && n[1] == 0 && n[2] == 0) return nsl_callback_protected(&self->callee.callbacks[0], raise_normal, NULL);
  ns_contact_rows(contact, args[0], C);
  return 0;
}

/* dh/dt with the frame of the plain evaluation, which comes before this call. */
static int contact_along(void *context, double t, const double *const *args, double tdot, const double *w, double *first,
                         double *second) {
  NslRelation *self = context;
  return self->computeh.along(self->computeh.context, t, args, tdot, w, first, second);
}

/* Binds h of a contact: the shape's function, or the callback, whose frame gives the rows. */
static void bind_contact(NslRelation *self) {
  NsRelation *relation = self->relation;
  self->computeh = relation->h;
  if (ns_contact_is_ready(relation->contact)) relation->h = ns_contact_function(relation->contact);
  else if (self->computeh.value)
    relation->h = (NsFunction){.value = bind_contact_value,
                               .jacobian = bind_contact_jacobian,
                               .context = self,
                               .along = self->computeh.along ? contact_along : NULL};
}

static NsStatus bind_relation(NslCallee *callee) {
  NslRelation *self = (NslRelation *)callee;
  NsStatus status = nsl_bind_fields(callee);
  if (self->relation && self->relation->contact) bind_contact(self);
  return status;
}

/* ---- making ---- */

static NslCallee *check_relation_callee(lua_State *L, int idx) {
  return &nsl_check_relation(L, idx)->callee;
}

static void *relation_object(NslCallee *callee) {
  return ((NslRelation *)callee)->relation;
}

static void set_relation_z(lua_State *L, int idx, int value, bool shared) {
  NsRelation *relation = ((NslRelation *)lua_touserdata(L, idx))->relation;
  nsl_set_z(L, idx, &relation->z, &relation->nz, value, relation->m >= 0, shared);
}

static const NslCalleeFamily family = {.check = check_relation_callee,
                                       .object = relation_object,
                                       .bind = bind_relation,
                                       .set_z = set_relation_z,
                                       .no_callback = "%s: a %s has no callback %s"};

/* Pushes a relation without data. */
static NslRelation *new_relation(lua_State *L, const NsRelationClass *class) {
  int i = 0;
  while (ns_relation_classes[i] != class) i++;
  NslRelation *self = nsl_new(L, &types[i], sizeof *self, nsl_callee_uservalues(&class->model) + (class->contact > 0));
  nsl_callee_init(L, -1, &self->callee, &family, &class->model, "");
  if (ns_relation_new(&self->relation, class) != NS_OK) luaL_error(L, "not enough memory");
  self->callee.name = self->relation->name;
  return self;
}

/* to = the three finite numbers under a key of the option table. */
static void bind_relation_read_point(lua_State *L, int options, const char *who, const char *key, double *to) {
  lua_getfield(L, options, key);
  nsl_vector_read(nsl_to_finite_vector(L, lua_gettop(L), 3, who, key), to);
  lua_pop(L, 1);
}

/* rounding: it may be 0, which it is when it is not given. */
static double read_radius(lua_State *L, int options, const char *who, const char *key, bool rounding) {
  if (lua_getfield(L, options, key) == LUA_TNIL && rounding) return lua_pop(L, 1), 0;
  if (!lua_isnumber(L, -1) || !(lua_tonumber(L, -1) > 0 || (rounding && lua_tonumber(L, -1) == 0)))
    nsl_bad(L, who, key, rounding ? "a number, 0 or more" : "a positive number", lua_gettop(L));
  double R = nsl_finite(L, lua_gettop(L), who, key);
  lua_pop(L, 1);
  return R;
}

/* Divides n by its length. */
static void make_unit(lua_State *L, const char *who, const char *what, double *n) {
  double length = hypot(hypot(n[0], n[1]), n[2]);
  if (!(length > 0)) luaL_error(L, "%s: %s: expected a direction, got zeros", who, what);
  for (int i = 0; i < 3; i++) n[i] /= length;
}

/* Refuses a point or a direction outside of the plane, of a contact in it. */
static void check_in_plane(lua_State *L, const NsContact *contact, const char *who, const char *what, const double *v) {
  if (ns_contact_in_plane(contact) && v[2] != 0)
    luaL_error(L, "%s: %s: expected a third number of 0 in the plane, got %f", who, what, v[2]);
}

/* Pushes the names of the shapes that the contact takes: "'a', 'b' or 'c'". */
static const char *push_shapes(lua_State *L, const NsContact *contact) {
  const char *text = lua_pushstring(L, "");
  for (int i = NS_SHAPES - 1, found = 0; i >= 0; i--) {
    if (!ns_contact_takes(contact, i)) continue;
    text = lua_pushfstring(L, "'%s'%s%s", ns_shape_classes[i]->name, found == 0 ? "" : found == 1 ? " or " : ", ", text);
    lua_replace(L, -2);
    found++;
  }
  return text;
}

/* The index of the shape at idx. */
static int check_contact_shape(lua_State *L, const NsContact *contact, int idx, const char *who) {
  bool text = lua_type(L, idx) == LUA_TSTRING;
  int shape = text ? ns_contact_find_shape(contact, lua_tostring(L, idx)) : NS_SHAPES;
  if (shape < NS_SHAPES) return shape;
  const char *known = push_shapes(L, contact);
  if (text) return luaL_error(L, "%s: shape: expected %s, got '%s'", who, known, lua_tostring(L, idx));
  return nsl_bad(L, who, "shape", known, idx);
}

static bool has_number(const NsShapeNumber *numbers, const char *name) {
  for (int i = 0; i < NS_SHAPE_NUMBERS && numbers[i].name; i++)
    if (strcmp(numbers[i].name, name) == 0) return true;
  return false;
}

/* Refuses a number that only other shapes have. */
static void check_shape_numbers(lua_State *L, int options, const char *who, int shape) {
  for (int other = 0; other < NS_SHAPES; other++) {
    const NsShapeNumber *numbers = ns_shape_classes[other]->numbers;
    for (int i = 0; i < NS_SHAPE_NUMBERS && numbers[i].name; i++) {
      if (has_number(ns_shape_classes[shape]->numbers, numbers[i].name)) continue;
      if (lua_getfield(L, options, numbers[i].name) != LUA_TNIL)
        luaL_error(L, "%s: %s: the shape %s has none", who, numbers[i].name, ns_shape_classes[shape]->name);
      lua_pop(L, 1);
    }
  }
}

/* Reads a ready-made geometry: the option "shape" and its dimensions. */
static void apply_shape(lua_State *L, int options, NslRelation *self) {
  NsContact *contact = self->relation->contact;
  const char *who = self->callee.head.type->name;
  if (!contact || lua_getfield(L, options, "shape") == LUA_TNIL) return;
  int shape = check_contact_shape(L, contact, lua_gettop(L), who);
  if (lua_getfield(L, options, "h") != LUA_TNIL) luaL_error(L, "%s: expected h or shape, got both", who);
  check_shape_numbers(L, options, who, shape);
  contact->shape = shape, contact->last.known = false;
  const NsShapeNumber *numbers = ns_shape_classes[shape]->numbers;
  for (int i = 0; i < NS_SHAPE_NUMBERS && numbers[i].name; i++) {
    double *to = (double *)(void *)((char *)contact + numbers[i].offset);
    bool rounding = numbers[i].kind == NS_SHAPE_ROUNDING;
    if (rounding || numbers[i].kind == NS_SHAPE_RADIUS) *to = read_radius(L, options, who, numbers[i].name, rounding);
    else bind_relation_read_point(L, options, who, numbers[i].name, to), check_in_plane(L, contact, who, numbers[i].name, to);
    if (numbers[i].kind == NS_SHAPE_DIRECTION) make_unit(L, who, numbers[i].name, to);
  }
  (void)bind_relation(&self->callee);
}

/* Reads how many states the callbacks expect, summed over the systems that will be linked together. */
static void apply_states(lua_State *L, int options, NslRelation *self) {
  const char *who = self->callee.head.type->name;
  if (lua_getfield(L, options, "states") == LUA_TNIL) return;
  lua_Integer states = nsl_integer(L, lua_gettop(L), who, "states");
  if (states < 1) luaL_error(L, "%s: states: expected a positive number, got %I", who, states);
  if (states > INT_MAX) luaL_error(L, "%s: states: expected at most %d, got %I", who, INT_MAX, states);
  self->relation->states = (int)states;
}

static void relation_of_options(lua_State *L, int options, const NsRelationClass *class) {
  NslRelation *self = new_relation(L, class);
  nsl_check_keys(L, options, &class->model);
  int idx = lua_gettop(L);
  apply_shape(L, options, self);
  apply_states(L, options, self);
  lua_settop(L, idx);
  nsl_apply_options(L, options, idx, NULL);
}

/* Pushes "(C, B), (C, D, F, e, B)". */
static const char *push_forms(lua_State *L, const char *const *forms) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (bool first = true; *forms; forms++) {
    if (!**forms) continue;
    luaL_addstring(&b, first ? "(" : ", (");
    for (const char *letter = *forms; *letter; letter++) {
      if (letter > *forms) luaL_addstring(&b, ", ");
      luaL_addchar(&b, *letter);
    }
    luaL_addchar(&b, ')');
    first = false;
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Arguments: an option table, or coefficients by position in one of the forms of the class; nil or false: absent. */
static int new_of_coefficients(lua_State *L, const NsRelationClass *class) {
  int nargs = lua_gettop(L);
  const char *form = NULL, *who = class->model.name;
  if (nargs == 1 && nsl_is_options(L, 1)) return relation_of_options(L, 1, class), 1;
  for (int i = 0; class->forms[i]; i++)
    if ((int)strlen(class->forms[i]) == nargs) form = class->forms[i];
  if (!form)
    luaL_error(L, "%s: expected %s or an option table, got %d argument%s", who, push_forms(L, class->forms), nargs,
               nargs == 1 ? "" : "s");
  if (nargs == 1 && lua_isnil(L, 1)) nsl_bad(L, who, "C", "a matrix", 1);
  NslRelation *self = new_relation(L, class);
  for (int i = 0; i < nargs; i++) {
    char name[2] = {form[i], 0};
    if (lua_toboolean(L, i + 1))
      nsl_set_coefficient(L, nargs + 1, ns_field_find(self->callee.kind->fields, name)->name, i + 1, true);
  }
  return 1;
}

/* Whether a callback given by position must not be nil: h and g, which may only be left out at the end, to be set later. */
static bool needs_value(const char *brief) {
  return strcmp(brief, "h") == 0 || strcmp(brief, "g") == 0;
}

/* Arguments: (), ({options}), or the callbacks by position: (h, g [, Jachx, Jacglambda [, Jachlambda, Jacgx]]). */
static int new_of_callbacks(lua_State *L, const NsRelationClass *class) {
  int nargs = lua_gettop(L), most = class->model.nslots;
  const char *who = class->model.name;
  if (nargs == 1 && lua_istable(L, 1)) return relation_of_options(L, 1, class), 1;
  if (nargs > most) luaL_error(L, "%s: expected at most %d callbacks, got %d", who, most, nargs);
  for (int i = 1; i <= nargs; i++) {
    const char *brief = class->model.slots[i - 1].brief;
    if (!nsl_may_be_callback(L, i) && (!lua_isnil(L, i) || needs_value(brief))) nsl_bad(L, who, brief, "a function", i);
  }
  new_relation(L, class);
  for (int i = 1; i <= nargs; i++)
    if (!lua_isnil(L, i)) nsl_set_function(L, nargs + 1, i - 1, i);
  return 1;
}

static int construct_relation(lua_State *L) {
  const NsRelationClass *class = lua_touserdata(L, lua_upvalueindex(1));
  return class->forms ? new_of_coefficients(L, class) : new_of_callbacks(L, class);
}

/* The user value of a contact that is the surface which it follows. */
static int relation_surface(const NslRelation *self) {
  return nsl_callee_uservalues(self->callee.kind) + 1;
}

void nsl_relation_keep(lua_State *L, int idx) {
  lua_setiuservalue(L, idx, relation_surface(nsl_check_relation(L, idx)));
}

void nsl_clone_relation(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  const NsRelation *from = nsl_check_relation(L, idx)->relation;
  NslRelation *self = new_relation(L, from->class);
  int copy = lua_gettop(L);
  nsl_clone_fields(L, idx, copy);
  if (!from->contact) return;
  self->relation->contact->surface = from->contact->surface;
  lua_getiuservalue(L, idx, relation_surface(self));
  nsl_relation_keep(L, copy);
}

/* ---- the frame of a contact ---- */

/* The relation at 1, and its point that the upvalue names: pc1, pc2 or nc. */
static double *check_point(lua_State *L, NslRelation **self) {
  *self = nsl_check_relation(L, 1);
  const NsField *field = ns_field_find((*self)->callee.kind->fields, lua_tostring(L, lua_upvalueindex(1)));
  if (!field) luaL_error(L, "a %s has no contact frame", (*self)->callee.head.type->name);
  return ns_field_place(field, (*self)->relation);
}

static int get_point(lua_State *L) {
  NslRelation *self;
  const double *point = check_point(L, &self);
  nsl_vector_write(nsl_push_vector(L, 3, lua_tostring(L, lua_upvalueindex(1))), point);
  return 1;
}

/* Raises when the contact has a ready-made shape. */
static void refuse_shape(lua_State *L, const NsContact *contact, const char *who) {
  if (contact && ns_contact_is_ready(contact))
    luaL_error(L, "%s: the shape %s has its own", who, ns_contact_shape(contact)->name);
}

/* Replaces a dual vector, or a list with duals, at idx by its values: a frame has no derivatives. */
static void drop_partials(lua_State *L, int idx) {
  const NslDualVector *v = nsl_test_dual_vector(L, idx);
  int n = v ? v->base.n : lua_istable(L, idx) ? (int)lua_rawlen(L, idx) : 0;
  if (n == 0) return;
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    lua_geti(L, idx, i);
    const NslDual *x = nsl_test_dual(L, -1);
    if (x) lua_pushnumber(L, x->value), lua_replace(L, -2);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, idx);
}

/* Upvalues: the name of the point, the name of the setter. */
static int set_point(lua_State *L) {
  NslRelation *self;
  const char *what = lua_tostring(L, lua_upvalueindex(1)), *who = lua_tostring(L, lua_upvalueindex(2));
  double *point = check_point(L, &self), got[3];
  refuse_shape(L, self->relation->contact, who);
  lua_settop(L, 2);
  drop_partials(L, 2);
  nsl_vector_read(nsl_to_finite_vector(L, 2, 3, who, what), got);
  check_in_plane(L, self->relation->contact, who, what, got);
  if (what[0] == 'n') make_unit(L, who, what, got);
  memcpy(point, got, sizeof got);
  return 0;
}

static int set_contact_h(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  const char *who = "setComputehFunction";
  nsl_callee_idle(L, &self->callee, who);
  refuse_shape(L, self->relation->contact, who);
  return nsl_set_callback(L, &self->callee, "h", who);
}

/* Adds the methods of a contact to the table on top. */
static void add_contact_methods(lua_State *L, const NsField *fields) {
  for (const NsField *field = fields; field->name; field++) {
    if (field->type != NS_FIELD_POINT || !(field->flags & NS_FIELD_SETTER)) continue;
    lua_pushstring(L, field->name);
    lua_pushcclosure(L, get_point, 1);
    lua_setfield(L, -2, field->name);
    const char *setter = lua_pushfstring(L, "set%s", field->name);
    lua_pushstring(L, field->name);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, set_point, 2);
    lua_setfield(L, -3, setter);
    lua_pop(L, 1);
  }
  nsl_set_cfunction(L, "setComputehFunction", set_contact_h);
}

/* ---- methods ---- */

static int relation_close(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  nsl_callee_idle(L, &self->callee, "close");
  self->callee.head.closed = self->relation->closed = true;
  return 0;
}

static int relation_gc(lua_State *L) {
  NslRelation *self = lua_touserdata(L, 1);
  nsl_callee_release(&self->callee);
  ns_relation_free(self->relation);
  self->relation = NULL;
  return 0;
}

static int relation_tostring(lua_State *L) {
  NslRelation *self = lua_touserdata(L, 1);
  const char *type = self->callee.head.type->name;
  if (nsl_is_closed(&self->callee.head)) return lua_pushfstring(L, "%s (closed)", type), 1;
  lua_pushfstring(L, self->relation->name[0] ? "%s '%s'" : "%s", type, self->relation->name);
  if (self->relation->m < 0) lua_pushliteral(L, ", not linked");
  else
    lua_pushfstring(L, ": %d state%s, %d multiplier%s", self->relation->nx, self->relation->nx == 1 ? "" : "s",
                    self->relation->m, self->relation->m == 1 ? "" : "s");
  lua_concat(L, 2);
  return 1;
}

static int relation_display(lua_State *L) {
  return nsl_display_callee(L, &nsl_check_relation(L, 1)->callee);
}

/*
** Registers a class, and its constructor in the module. On top of the stack is the table of the methods of all classes, below
** it the module. The class gets these methods without the setters of other classes; getters of other classes return nil.
*/
static void open_relation_class(lua_State *L, int i) {
  static const luaL_Reg meta[] = {
      {"__gc", relation_gc}, {"__close", relation_close}, {"__tostring", relation_tostring}, {NULL, NULL}};
  const NsRelationClass *class = ns_relation_classes[i];
  lua_pushvalue(L, -2);
  nsl_copy_methods(L, -2, &family, &class->model);
  if (class->contact_rows) add_contact_methods(L, class->model.fields);
  nsl_register_callee_type(L, &types[i], &class->model, meta);
  lua_pushlightuserdata(L, (void *)(size_t) class);
  lua_pushcclosure(L, construct_relation, 1);
  lua_setfield(L, -2, class->model.name);
  lua_pop(L, 1);
}

void nsl_open_relation(lua_State *L) {
  static const luaL_Reg methods[] = {{"display", relation_display}, {"close", relation_close}, {NULL, NULL}};
  lua_newtable(L);
  for (int i = 0; i < NS_RELATION_CLASSES; i++) nsl_add_class_methods(L, &family, &ns_relation_classes[i]->model);
  nsl_add_coefficient_alias(L, &family, "C", "jachq", "setJachqPtr");
  luaL_setfuncs(L, methods, 0);
  for (int i = 0; i < NS_RELATION_CLASSES; i++) open_relation_class(L, i);
  lua_pop(L, 1);
}
