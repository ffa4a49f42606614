/*
** files.c
** The C part of ns.load and ns.save: .csv, .npy, .npz; files_hdf5.c has .h5.
*/
#include "bind/file/files.h"
#include "bind/lua/open.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip.h"

/* Memory of the engine that a function works with; freed with the userdata. */
typedef struct Contents {
  NslHead head;
  char *bytes;
  size_t size;
} Contents;

static const NslType contents_type = {.name = "file contents"};

static int contents_gc(lua_State *L) {
  Contents *self = lua_touserdata(L, 1);
  ns_free(self->bytes);
  self->bytes = NULL;
  return 0;
}

/* Pushes the contents of the file whose name is at 1. */
static Contents *push_contents(lua_State *L) {
  const char *path = nsl_path(L, 1, "load", "file");
  Contents *self = nsl_new(L, &contents_type, sizeof *self, 0);
  NsError err = {NS_OK, ""};
  if (ns_file_load(path, &self->bytes, &self->size, &err) != NS_OK) nsl_raise(L, &err);
  return self;
}

/* Raises "cannot read 'PATH': reason". */
static int files_unreadable(lua_State *L, const char *reason) {
  return luaL_error(L, "cannot read '%s': %s", lua_tostring(L, 1), reason);
}

/* ---- .npy and .npz ---- */

static void files_push_array(lua_State *L, const char *bytes, size_t size) {
  NsNpyArray array;
  NsError err = {NS_OK, ""};
  if (ns_npy_parse(bytes, size, &array, &err) != NS_OK) files_unreadable(L, err.text);
  if (array.rows > INT_MAX || array.cols > INT_MAX) files_unreadable(L, "the array is too large");
  double *to = array.cols < 0 ? nsl_push_vector(L, array.rows, NULL)->data
                              : nsl_push_matrix(L, array.rows, array.cols, NULL)->data;
  ns_npy_read(&array, to);
}

static int load_npy(lua_State *L) {
  Contents *contents = push_contents(L);
  files_push_array(L, contents->bytes, contents->size);
  return 1;
}

/* Pushes the name of a part, without its ending. */
static void push_part_name(lua_State *L, const NsZipPart *part) {
  size_t length = part->name_length;
  if (length > 4 && memcmp(part->name + length - 4, ".npy", 4) == 0) length -= 4;
  lua_pushlstring(L, part->name, length);
}

enum { MAX_RATIO = 1100 }; /* most unpacked bytes per packed byte: deflate reaches 1032 */

/* Default limit on what the packed parts unpack to in all, bytes (1 GiB): a file of 1 MB may claim this much. */
#define DEFAULT_LIMIT 1073741824.0

/* Adds the unpacked size of a packed part to *total; raises above `limit` bytes. Other parts are no larger than the file. */
static void count_part(lua_State *L, const NsZipPart *part, double limit, double *total) {
  if (part->size > part->stored * MAX_RATIO + MAX_RATIO) files_unreadable(L, "it claims an impossible size");
  if (part->method != 0) *total += (double)part->size;
  if (*total <= limit) return;
  push_part_name(L, part);
  luaL_error(L,
             "cannot read '%s': '%s' and what comes before it unpack to %I bytes, above the limit of %I; ns.load(file, "
             "{limit = bytes}) sets another",
             lua_tostring(L, 1), lua_tostring(L, -1), (lua_Integer)*total, (lua_Integer)limit);
}

/* Pushes the contents of a part, in memory that the userdata frees. */
static Contents *unpack_part(lua_State *L, const NsZipPart *part) {
  NsError err = {NS_OK, ""};
  Contents *unpacked = nsl_new(L, &contents_type, sizeof *unpacked, 0);
  unpacked->bytes = ns_alloc(part->size, 1);
  if (!unpacked->bytes) luaL_error(L, "not enough memory");
  if (ns_zip_read(part, unpacked->bytes, &err) != NS_OK) files_unreadable(L, err.text);
  return unpacked;
}

/* Puts a part's array into the tables at names and names + 1, or the reason for a failure into the table at names + 2. */
static void take_part(lua_State *L, const NsZipPart *part, int names) {
  NsNpyArray array;
  NsError err = {NS_OK, ""};
  Contents *unpacked = unpack_part(L, part);
  push_part_name(L, part);
  if (ns_npy_parse(unpacked->bytes, part->size, &array, &err) != NS_OK && array.foreign) {
    lua_pushstring(L, err.text);
    lua_rawset(L, names + 2);
  } else {
    lua_Integer i = (lua_Integer)lua_rawlen(L, names) + 1;
    lua_rawseti(L, names, i);
    files_push_array(L, unpacked->bytes, part->size);
    lua_rawseti(L, names + 1, i);
  }
  ns_free(unpacked->bytes);
  unpacked->bytes = NULL;
  lua_pop(L, 1);
}

/* load_npz(path [, limit]): names, arrays, { unread }; unread[name] is the reason why a part was not read. */
static int load_npz(lua_State *L) {
  NsError err = {NS_OK, ""};
  double limit = luaL_optnumber(L, 2, DEFAULT_LIMIT), total = 0;
  Contents *contents = push_contents(L);
  NsZipReader reader;
  NsZipPart part;
  if (ns_zip_scan(&reader, contents->bytes, contents->size, &err) != NS_OK) return files_unreadable(L, err.text);
  int names = lua_gettop(L) + 1;
  for (int i = 0; i < 3; i++) lua_newtable(L);
  while (reader.left > 0) {
    if (ns_zip_next(&reader, &part, &err) != NS_OK) return files_unreadable(L, err.text);
    count_part(L, &part, limit, &total);
    take_part(L, &part, names);
  }
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "unread");
  return 3;
}

/*
** The elements of the vector or matrix at idx, column-major without gaps: where they are so they are not copied. Pushes what keeps them
** alive.
*/
static const double *flat(lua_State *L, int idx, ptrdiff_t *rows, ptrdiff_t *cols) {
  NslMatrix *m = nsl_test_matrix(L, idx);
  NslVector *v = m ? NULL : nsl_to_vector(L, idx, -1, "save", "data");
  *rows = m ? m->rows : v->n;
  *cols = m ? m->cols : -1;
  if (m) nsl_matrix_alive(L, m);
  else nsl_vector_alive(L, v);
  if (m ? m->ld == m->rows || m->cols < 2 : v->stride == 1) return lua_pushvalue(L, idx), m ? m->data : v->data;
  double *copy = lua_newuserdatauv(L, (size_t)*rows * (size_t)(m ? m->cols : 1) * sizeof *copy + 1, 0);
  if (m) nsl_matrix_read(m, copy);
  else nsl_vector_read(v, copy);
  return copy;
}

/* files_save_npy(path, array) */
static int files_save_npy(lua_State *L) {
  const char *path = nsl_path(L, 1, "save", "file");
  ptrdiff_t rows, cols;
  NsError err = {NS_OK, ""};
  const double *data = flat(L, 2, &rows, &cols);
  if (ns_npy_write(path, rows, cols, data, &err) != NS_OK) return nsl_raise(L, &err);
  return 0;
}

NslNamed *nsl_named_arrays(lua_State *L, int *count, const char *ending) {
  lua_Integer n = luaL_len(L, 2);
  luaL_argcheck(L, n <= INT_MAX / 2 && n == luaL_len(L, 3), 3, "expected an array for each name");
  NslNamed *list = lua_newuserdatauv(L, (size_t)n * sizeof *list + 1, 0);
  lua_createtable(L, (int)n * 2, 0);
  int anchors = lua_gettop(L);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, 2, i + 1);
    size_t length;
    const char *name = luaL_checklstring(L, -1, &length);
    if (strlen(name) != length) luaL_error(L, "save: '%s': a name cannot hold a zero byte", name);
    list[i].name = lua_pushfstring(L, "%s%s", name, ending);
    lua_rawseti(L, anchors, 2 * i + 1);
    lua_rawgeti(L, 3, i + 1);
    list[i].data = flat(L, lua_gettop(L), &list[i].rows, &list[i].cols);
    lua_rawseti(L, anchors, 2 * i + 2);
    lua_settop(L, anchors);
  }
  *count = (int)n;
  return list;
}

static NsStatus write_npz(const char *path, const NslNamed *list, int count, NsError *err) {
  NsZip *zip;
  NsStatus status = ns_zip_open(&zip, path, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < count && status == NS_OK; i++) {
    char header[NS_NPY_HEADER];
    size_t length = ns_npy_header(header, list[i].rows, list[i].cols);
    size_t cols = list[i].cols < 0 ? 1 : (size_t)list[i].cols;
    NsZipPiece pieces[] = {{header, length}, {list[i].data, (size_t)list[i].rows * cols * sizeof(double)}};
    status = ns_zip_add(zip, list[i].name, pieces, 2, false, err);
  }
  if (status == NS_OK) return ns_zip_commit(zip, err);
  ns_zip_abort(zip);
  return status;
}

/* files_save_npz(path, names, arrays) */
static int files_save_npz(lua_State *L) {
  const char *path = nsl_path(L, 1, "save", "file");
  int count;
  NsError err = {NS_OK, ""};
  NslNamed *list = nsl_named_arrays(L, &count, ".npy");
  if (write_npz(path, list, count, &err) != NS_OK) return nsl_raise(L, &err);
  return 0;
}

/* files_save_zip(path, names, contents): a deflated archive of any files, given as texts. */
static int files_save_zip(lua_State *L) {
  const char *path = nsl_path(L, 1, "export", "file");
  NsZip *zip;
  NsError err = {NS_OK, ""};
  lua_Integer n = luaL_len(L, 2);
  NsZipPiece *pieces = lua_newuserdatauv(L, (size_t)n * sizeof *pieces + 1, 0);
  const char **names = lua_newuserdatauv(L, (size_t)n * sizeof *names + 1, 0);
  for (lua_Integer i = 0; i < n; i++, lua_pop(L, 2)) { /* the tables hold the texts */
    lua_rawgeti(L, 2, i + 1);
    lua_rawgeti(L, 3, i + 1);
    names[i] = luaL_checkstring(L, -2);
    pieces[i].bytes = luaL_checklstring(L, -1, &pieces[i].size);
  }
  NsStatus status = ns_zip_open(&zip, path, &err);
  if (status != NS_OK) return nsl_raise(L, &err);
  for (lua_Integer i = 0; i < n && status == NS_OK; i++) status = ns_zip_add(zip, names[i], &pieces[i], 1, true, &err);
  if (status != NS_OK) ns_zip_abort(zip);
  else status = ns_zip_commit(zip, &err);
  return status == NS_OK ? 0 : nsl_raise(L, &err);
}

/* files_deflate(text): a deflate stream without a header; nil where it would not be shorter. */
static int files_deflate(lua_State *L) {
  NsZipPiece piece;
  piece.bytes = luaL_checklstring(L, 1, &piece.size);
  Contents *stream = nsl_new(L, &contents_type, sizeof *stream, 0);
  stream->bytes = ns_zip_deflate(&piece, 1, piece.size, &stream->size);
  if (stream->bytes) lua_pushlstring(L, stream->bytes, stream->size);
  else lua_pushnil(L);
  return 1;
}

/* ---- .csv ---- */

/* files_save_csv(path, names, columns) */
static int files_save_csv(lua_State *L) {
  const char *path = nsl_path(L, 1, "save", "file");
  int count;
  NsError err = {NS_OK, ""};
  NslNamed *list = nsl_named_arrays(L, &count, "");
  const char **names = lua_newuserdatauv(L, (size_t)count * sizeof *names + 1, 0);
  const double **columns = lua_newuserdatauv(L, (size_t)count * sizeof *columns + 1, 0);
  for (int i = 0; i < count; i++) {
    names[i] = list[i].name;
    columns[i] = list[i].data;
    if (list[i].cols >= 0 || list[i].rows != list[0].rows)
      return luaL_error(L, "save: '%s': expected a column of %I numbers", list[i].name, (lua_Integer)list[0].rows);
  }
  if (ns_csv_write(path, count, names, count ? list[0].rows : 0, columns, &err) != NS_OK) return nsl_raise(L, &err);
  return 0;
}

/* What the first pass over a text has found. */
typedef struct Survey {
  int cols;
  lua_Integer rows; /* including the header's row */
  bool header;      /* the first row holds a cell that is no number */
} Survey;

static Survey survey(lua_State *L, const Contents *contents, NsCsvForm form) {
  Survey s = {0};
  NsCsvReader reader = ns_csv_reader(contents->bytes, contents->size, form.separator);
  NsCsvCell cell;
  double x;
  for (int j = 1; ns_csv_next(&reader, &cell); j++) {
    if (cell.open)
      luaL_error(L, "cannot read '%s': line %I: a quote begins there that does not end", lua_tostring(L, 1),
                 (lua_Integer)cell.line);
    if (s.rows == 0) s.header = s.header || !ns_csv_number(&cell, form.decimal, &x) || cell.length == 0;
    if (!cell.ends_row) continue;
    if (s.rows == 0) s.cols = j;
    if (j != s.cols)
      luaL_error(L, "cannot read '%s': line %I: expected %d cells, got %d", lua_tostring(L, 1), (lua_Integer)reader.row, s.cols,
                 j);
    s.rows++;
    j = 0;
  }
  if (s.rows - s.header > INT_MAX) files_unreadable(L, "it has too many rows");
  return s;
}

/* Pushes a cell as text; in a quoted cell "" stands for ". */
static void files_push_text(lua_State *L, const NsCsvCell *cell) {
  lua_pushlstring(L, cell->text, cell->length);
  if (cell->quoted) {
    luaL_gsub(L, lua_tostring(L, -1), "\"\"", "\"");
    lua_remove(L, -2);
  }
}

/* Fills the tables at `names` (names of columns, from the header or c1, c2, ...) and names + 1 (their vectors). */
static void prepare_columns(lua_State *L, const Survey *s, NsCsvReader *reader, int names, NslVector **columns) {
  NsCsvCell cell;
  for (int j = 0; j < s->cols; j++) {
    if (s->header && ns_csv_next(reader, &cell)) files_push_text(L, &cell);
    else lua_pushfstring(L, "c%d", j + 1);
    lua_rawseti(L, names, j + 1);
    columns[j] = nsl_push_vector(L, s->rows - s->header, NULL);
    lua_rawseti(L, names + 1, j + 1);
  }
}

/* Makes column j a table of texts in place of a vector, because row i holds a text; the rows before i stay numbers. */
static void make_texts(lua_State *L, int arrays, int j, lua_Integer i, NslVector **columns) {
  lua_createtable(L, columns[j]->n, 0);
  for (lua_Integer k = 0; k < i; k++) {
    lua_pushnumber(L, columns[j]->data[k]);
    lua_rawseti(L, -2, k + 1);
  }
  columns[j] = NULL;
  lua_rawseti(L, arrays, j + 1);
}

/* load_csv(path [, separator [, decimal]]): names, columns (vectors, or tables if a cell is a text). An empty cell is nan. */
static int load_csv(lua_State *L) {
  NsCsvForm given = {luaL_optstring(L, 2, "")[0], luaL_optstring(L, 3, "")[0]};
  Contents *contents = push_contents(L);
  NsCsvForm form = ns_csv_form(contents->bytes, contents->size, given);
  Survey s = survey(L, contents, form);
  NsCsvReader reader = ns_csv_reader(contents->bytes, contents->size, form.separator);
  NslVector **columns = lua_newuserdatauv(L, (size_t)s.cols * sizeof *columns + 1, 0);
  lua_newtable(L);
  lua_newtable(L);
  int arrays = lua_gettop(L);
  prepare_columns(L, &s, &reader, arrays - 1, columns);
  NsCsvCell cell;
  for (lua_Integer i = 0; i < s.rows - s.header; i++) {
    for (int j = 0; j < s.cols && ns_csv_next(&reader, &cell); j++) {
      double x;
      bool number = ns_csv_number(&cell, form.decimal, &x);
      if (columns[j] && number) {
        columns[j]->data[i] = x;
        continue;
      }
      if (columns[j]) make_texts(L, arrays, j, i, columns);
      lua_rawgeti(L, arrays, j + 1);
      if (number && cell.length > 0) lua_pushnumber(L, x);
      else files_push_text(L, &cell);
      lua_rawseti(L, -2, i + 1);
      lua_pop(L, 1);
    }
  }
  return 2;
}

void nsl_open_files(lua_State *L) {
  static const luaL_Reg functions[] = {{"load_csv", load_csv},       {"load_npy", load_npy},       {"load_npz", load_npz},
                                       {"save_csv", files_save_csv}, {"save_npy", files_save_npy}, {"save_npz", files_save_npz},
                                       {"save_zip", files_save_zip}, {"deflate", files_deflate},   {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", contents_gc}, {NULL, NULL}};
  nsl_register_type(L, &contents_type, meta, NULL);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "file_support");
}
