/*
** fuzz_files.c
** The readers of files under bytes of any kind: a target of libFuzzer for each, and a program that runs them all without it.
**
** Each target reads the bytes, and where they read without an error writes what was read, reads that again, and
** compares; a difference aborts the process. With -DFUZZ_TARGET=fuzz_csv (and the like) the file is a libFuzzer
** target. Without, it is a program of its own:
**   fuzz_files TARGET COUNT SEED FILE...
** runs the target on each file, on each file cut at every one of its first 200 bytes, and on COUNT changed ones (bytes
** flipped, replaced, taken away, doubled, pieces of other files), the same ones for a SEED; the last line: "N inputs".
*/
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/checkpoint.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/number.h"
#include "io/stream.h"
#include "io/zip.h"

enum { PATH_SIZE = 96, MAX_ELEMENTS = 1 << 20 };

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

/* ---- files, in memory where there is such a directory ---- */

static void path_of(char *path, const char *name) {
  static char directory[PATH_SIZE / 2];
  if (!*directory) {
    const char *given = getenv("NSLUA_FUZZ_DIRECTORY");
    CHECK(!given || strlen(given) < sizeof directory);
    snprintf(directory, sizeof directory, "%s", given ? given : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  }
  snprintf(path, PATH_SIZE, "%s/fuzz.%ld.%s", directory, (long)getpid(), name);
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
  FILE *out = fopen(path, "wb");
  CHECK(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
}

static char *read_bytes(const char *path, size_t *size) {
  char *bytes;
  NsError err;
  CHECK(ns_file_load(path, &bytes, size, &err) == NS_OK);
  return bytes;
}

static bool same_number(double a, double b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* ---- numbers ---- */

static bool is_decimal(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!strchr("0123456789.eE+-", text[i]) || !text[i]) return false;
  return size > 0;
}

/* A number is what strtod makes of it, and is read back from what is written. */
static void fuzz_number(const char *bytes, size_t size) {
  double x, y, z;
  char text[NS_NUMBER_TEXT + 1], *copy = ns_alloc(size + 1, 1), *stop;
  CHECK(copy);
  if (size > 0) memcpy(copy, bytes, size);
  bool good = ns_number_parse(bytes, size, &x);
  y = strtod(copy, &stop);
  if (good && is_decimal(bytes, size)) CHECK(stop == copy + size && same_number(x, y));
  if (!good && is_decimal(bytes, size) && size <= 300) CHECK(stop != copy + size);
  if (!good && size >= sizeof x) memcpy(&x, bytes, sizeof x);
  if (good || size >= sizeof x) {
    size_t length = ns_number_format(text, x);
    CHECK(length < NS_NUMBER_TEXT);
    CHECK(ns_number_parse(text, length, &z) && same_number(x, z));
  }
  ns_free(copy);
}

/* ---- .csv ---- */

typedef struct Table {
  int cols;
  ptrdiff_t rows;
  char **names;
  double **columns;
} Table;

static void free_table(Table *table) {
  for (int j = 0; j < table->cols; j++) {
    if (table->names) ns_free(table->names[j]);
    if (table->columns) ns_free(table->columns[j]);
  }
  ns_free(table->names);
  ns_free(table->columns);
}

/* The name in a cell, "" in a quoted one being "; NULL when it holds a zero. */
static char *name_in(const NsCsvCell *cell) {
  char *name = ns_alloc(cell->length + 1, 1), *to = name;
  CHECK(name);
  for (size_t i = 0; i < cell->length; i++) {
    *to++ = cell->text[i];
    if (cell->quoted && cell->text[i] == '"') i++;
  }
  if (strlen(name) == (size_t)(to - name)) return name;
  ns_free(name);
  return NULL;
}

static char separator_of(const char *bytes, size_t size) {
  NsCsvForm form = ns_csv_form(bytes, size, (NsCsvForm){0, 0});
  CHECK(form.separator == ',' || form.separator == ';' || form.separator == '\t');
  CHECK(form.decimal == '.' || (form.separator != ',' && form.decimal == ','));
  return form.separator;
}

/* Whether all rows have the cells of the first one; *cells of all rows. Checks that cells lie in the text. */
static bool measure(const char *bytes, size_t size, int *cols, size_t *cells) {
  NsCsvReader reader = ns_csv_reader(bytes, size, separator_of(bytes, size));
  NsCsvCell cell;
  bool even = true;
  int j = 0;
  *cols = 0;
  for (*cells = 0; ns_csv_next(&reader, &cell); ++*cells) {
    CHECK(cell.text >= bytes && cell.length <= size && cell.text + cell.length <= bytes + size && *cells <= size);
    CHECK(reader.row <= cell.line && cell.line <= reader.line && (!cell.open || (cell.quoted && cell.ends_row)));
    even = even && !cell.open;
    j++;
    if (!cell.ends_row) continue;
    if (*cols == 0) *cols = j;
    even = even && j == *cols;
    j = 0;
  }
  CHECK(j == 0);
  return even && *cols > 0 && *cells < MAX_ELEMENTS;
}

/* Reads a table of names and numbers; false when the text is none. */
static bool read_table(const char *bytes, size_t size, Table *table) {
  size_t cells;
  NsCsvCell cell;
  *table = (Table){0};
  if (!measure(bytes, size, &table->cols, &cells)) return table->cols = 0, false;
  NsCsvReader reader = ns_csv_reader(bytes, size, separator_of(bytes, size));
  table->rows = (ptrdiff_t)(cells / (size_t)table->cols) - 1;
  table->names = ns_alloc((size_t)table->cols, sizeof *table->names);
  table->columns = ns_alloc((size_t)table->cols, sizeof *table->columns);
  CHECK(table->names && table->columns);
  bool good = true;
  for (int j = 0; j < table->cols; j++) {
    CHECK(ns_csv_next(&reader, &cell));
    table->names[j] = name_in(&cell);
    table->columns[j] = ns_alloc((size_t)table->rows, sizeof(double));
    good = good && table->names[j] && table->columns[j];
  }
  for (ptrdiff_t i = 0; good && i < table->rows; i++)
    for (int j = 0; good && j < table->cols; j++) {
      good = ns_csv_next(&reader, &cell) && !cell.quoted;
      if (good && cell.length == 0) table->columns[j][i] = NAN;
      else good = good && ns_number_parse(cell.text, cell.length, &table->columns[j][i]);
    }
  return good;
}

/* The first row of what is written is taken for names, and not for numbers, a comment or nothing. */
static void check_header(const char *bytes, size_t size) {
  NsCsvReader reader = ns_csv_reader(bytes, size, separator_of(bytes, size));
  NsCsvCell cell;
  double x;
  bool names = false;
  do {
    CHECK(ns_csv_next(&reader, &cell));
    names = names || cell.quoted || cell.length == 0 || !ns_number_parse(cell.text, cell.length, &x);
  } while (!cell.ends_row);
  CHECK(names);
}

static void fuzz_csv(const char *bytes, size_t size) {
  Table table, again;
  NsError err;
  char path[PATH_SIZE];
  path_of(path, "csv");
  if (read_table(bytes, size, &table)) {
    CHECK(ns_csv_write(path, table.cols, (const char *const *)table.names, table.rows,
                       (const double *const *)table.columns, &err) == NS_OK);
    size_t written;
    char *text = read_bytes(path, &written);
    check_header(text, written);
    CHECK(read_table(text, written, &again) && again.cols == table.cols && again.rows == table.rows);
    for (int j = 0; j < table.cols; j++) {
      CHECK(strcmp(table.names[j], again.names[j]) == 0);
      for (ptrdiff_t i = 0; i < table.rows; i++) CHECK(same_number(table.columns[j][i], again.columns[j][i]));
    }
    free_table(&again);
    ns_free(text);
    unlink(path);
  }
  free_table(&table);
}

/* ---- .npy ---- */

/* The elements as doubles; NULL when the bytes are no array, or one too large for a test. */
static double *read_array(const char *bytes, size_t size, NsNpyArray *array) {
  NsError err = {NS_OK, ""};
  if (ns_npy_parse(bytes, size, array, &err) != NS_OK) {
    CHECK(err.status == NS_EARG && *err.text);
    return NULL;
  }
  size_t rows = (size_t)array->rows, cols = array->cols < 0 ? 1 : (size_t)array->cols;
  if (rows > 0 && cols > MAX_ELEMENTS / rows) return NULL;
  CHECK(array->data >= bytes && rows * cols * (size_t)array->width <= (size_t)(bytes + size - array->data));
  double *values = ns_alloc(rows * cols, sizeof *values);
  CHECK(values);
  ns_npy_read(array, values);
  return values;
}

static void fuzz_npy(const char *bytes, size_t size) {
  NsNpyArray array, again;
  NsError err;
  char path[PATH_SIZE];
  double *values = read_array(bytes, size, &array);
  if (!values) return;
  path_of(path, "npy");
  CHECK(ns_npy_write(path, array.rows, array.cols, values, &err) == NS_OK);
  size_t written;
  char *text = read_bytes(path, &written);
  double *copy = read_array(text, written, &again);
  CHECK(copy && again.rows == array.rows && again.cols == array.cols && again.kind == 'f' && again.width == 8);
  size_t count = (size_t)array.rows * (array.cols < 0 ? 1 : (size_t)array.cols);
  CHECK(count == 0 || memcmp(values, copy, count * sizeof *values) == 0);
  ns_free(copy);
  ns_free(text);
  ns_free(values);
  unlink(path);
}

/* ---- .npz and what is in it ---- */

/* The next part's contents; NULL when it is none, is damaged or too large for a test. */
static char *next_part(NsZipReader *reader, NsZipPart *part) {
  NsError err = {NS_OK, ""};
  if (ns_zip_next(reader, part, &err) != NS_OK) {
    CHECK(err.status == NS_EARG);
    return NULL;
  }
  CHECK(part->name + part->name_length <= reader->bytes + reader->size);
  CHECK(part->data + part->stored <= reader->bytes + reader->size);
  if (part->size > MAX_ELEMENTS) return NULL;
  char *contents = ns_alloc(part->size, 1);
  CHECK(contents);
  if (ns_zip_read(part, contents, &err) == NS_OK) return contents;
  ns_free(contents);
  return NULL;
}

/* Writes an archive of the one part and reads that. */
static void copy_part(const NsZipPart *part, const char *contents) {
  NsZip *zip;
  NsError err;
  char path[PATH_SIZE];
  char *name = ns_alloc(part->name_length + 1, 1);
  CHECK(name);
  memcpy(name, part->name, part->name_length);
  path_of(path, "npz");
  NsZipPiece pieces[] = {{contents, part->size / 2}, {contents + part->size / 2, part->size - part->size / 2}};
  CHECK(ns_zip_open(&zip, path, &err) == NS_OK);
  CHECK(ns_zip_add(zip, name, pieces, 2, part->size % 2 == 0, &err) == NS_OK && ns_zip_commit(zip, &err) == NS_OK);
  size_t size;
  NsZipReader reader;
  NsZipPart again;
  char *bytes = read_bytes(path, &size);
  CHECK(ns_zip_scan(&reader, bytes, size, &err) == NS_OK && reader.left == 1);
  char *copy = next_part(&reader, &again);
  CHECK(copy && again.size == part->size && memcmp(copy, contents, part->size) == 0);
  CHECK(again.name_length == strlen(name) && memcmp(again.name, name, again.name_length) == 0);
  ns_free(copy);
  ns_free(bytes);
  ns_free(name);
  unlink(path);
}

static void fuzz_npz(const char *bytes, size_t size) {
  NsZipReader reader;
  NsZipPart part;
  NsError err = {NS_OK, ""};
  if (ns_zip_scan(&reader, bytes, size, &err) != NS_OK) return;
  for (int i = 0; i < 16 && reader.left > 0; i++) {
    char *contents = next_part(&reader, &part);
    if (!contents) return;
    copy_part(&part, contents);
    fuzz_npy(contents, part.size);
    ns_free(contents);
  }
}

/* ---- checkpoints ---- */

/* CRC-64 of ECMA-182, reflected, bit by bit. */
static uint64_t crc64(const char *bytes, size_t size) {
  uint64_t crc = ~UINT64_C(0);
  for (size_t i = 0; i < size; i++) {
    crc ^= (unsigned char)bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT64_C(0xC96C5795D7870F42) : 0);
  }
  return ~crc;
}

static const NsCheckpoint earlier = {.identity = (char *)"model", .identity_size = 5, .state = (char *)"12345678", .state_size = 8};

static bool same_piece(const char *a, size_t m, const char *b, size_t n) {
  return m == n && (m == 0 || memcmp(a, b, m) == 0);
}

static bool same_pieces(const NsCheckpoint *a, const NsCheckpoint *b) {
  return same_piece(a->identity, a->identity_size, b->identity, b->identity_size) &&
         same_piece(a->note, a->note_size, b->note, b->note_size) &&
         same_piece(a->state, a->state_size, b->state, b->state_size) &&
         same_piece(a->links, a->links_size, b->links, b->links_size);
}

/* With a good generation before it, any file at the path gives that one or its own contents, also after a write over it. */
static void check_generations(const char *path, const NsCheckpoint *pieces) {
  NsCheckpoint read = {0};
  NsError err;
  CHECK(ns_checkpoint_read(path, &read, &err) == NS_OK);
  CHECK(pieces ? !read.previous && same_pieces(&read, pieces) : read.previous && same_pieces(&read, &earlier));
  ns_checkpoint_clear(&read);
  CHECK(ns_checkpoint_write(path, &earlier, &err) == NS_OK && ns_checkpoint_read(path, &read, &err) == NS_OK);
  CHECK(!read.previous && same_pieces(&read, &earlier));
  ns_checkpoint_clear(&read);
  unlink(path);
  CHECK(ns_checkpoint_read(path, &read, &err) == NS_OK && read.previous);
  CHECK(same_pieces(&read, pieces ? pieces : &earlier));
  ns_checkpoint_clear(&read);
}

static void read_checkpoint(const char *bytes, size_t size) {
  NsCheckpoint pieces = {0}, again = {0};
  NsError err = {NS_OK, ""};
  char path[PATH_SIZE], previous[PATH_SIZE + 16];
  path_of(path, "state");
  snprintf(previous, sizeof previous, "%s.previous", path);
  unlink(previous);
  write_bytes(path, bytes, size);
  bool good = ns_checkpoint_read(path, &pieces, &err) == NS_OK;
  if (good) {
    CHECK(!pieces.previous && ns_checkpoint_write(path, &pieces, &err) == NS_OK);
    size_t written;
    char *text = read_bytes(path, &written);
    CHECK(ns_checkpoint_read(path, &again, &err) == NS_OK && same_pieces(&pieces, &again));
    CHECK(written <= size && memcmp(text, bytes, written - sizeof(uint64_t)) == 0);
    ns_checkpoint_clear(&again);
    ns_free(text);
  } else {
    CHECK(err.status == NS_EIO && strstr(err.text, path));
  }
  CHECK(ns_checkpoint_write(previous, &earlier, &err) == NS_OK);
  write_bytes(path, bytes, size);
  check_generations(path, good ? &pieces : NULL);
  unlink(previous);
  ns_checkpoint_clear(&pieces);
}

/* As they are, and with a checksum that is right. */
static void fuzz_checkpoint(const char *bytes, size_t size) {
  read_checkpoint(bytes, size);
  if (size < sizeof(uint64_t)) return;
  char *copy = ns_alloc(size, 1);
  CHECK(copy);
  memcpy(copy, bytes, size);
  uint64_t crc = crc64(copy, size - sizeof crc);
  memcpy(copy + size - sizeof crc, &crc, sizeof crc);
  read_checkpoint(copy, size);
  ns_free(copy);
}

/* ---- streams ---- */

/* The first number of each line that stays is below `from`; the number of bytes is returned. */
static size_t check_lines(const char *text, size_t header, size_t size, double from) {
  for (size_t at = header; at < size;) {
    const char *end = memchr(text + at, '\n', size - at), *comma = end ? memchr(text + at, ',', (size_t)(end - text) - at) : NULL;
    double x;
    CHECK(end && ns_number_parse(text + at, (size_t)((comma ? comma : end) - text) - at, &x) && x < from);
    at = (size_t)(end - text) + 1;
  }
  return size;
}

/* Goes on with the file and appends a row; its length before that row, or 0 when it is a file of other columns. */
static size_t resume(const char *path, double from) {
  static const char *const names[] = {"t", "x"};
  static const char header[] = "t,x\n";
  NsStream *stream;
  NsError err = {NS_OK, ""};
  NsStatus status = ns_stream_open(&stream, path, 2, names, (NsStreamPlace){from, -INFINITY}, &err);
  if (status != NS_OK) {
    CHECK(status == NS_EARG && strstr(err.text, "it has other columns"));
    return 0;
  }
  double row[] = {from, 0.1};
  char number[2 * NS_NUMBER_TEXT], *text;
  ns_stream_row(stream, row);
  CHECK(ns_stream_close(stream, &err) == NS_OK);
  size_t size, length = ns_number_format(number, from);
  memcpy(number + length, ",0.1\n", 5);
  length += 5;
  text = read_bytes(path, &size);
  CHECK(size >= sizeof header - 1 + length && memcmp(text, header, sizeof header - 1) == 0);
  CHECK(memcmp(text + size - length, number, length) == 0);
  size = check_lines(text, sizeof header - 1, size - length, from);
  ns_free(text);
  return size;
}

/* The first byte says from which time on; what stays is the beginning of the file, the same one again. */
static void fuzz_stream(const char *bytes, size_t size) {
  static const double times[] = {0, 1, 0.5, 1e-9, -1, 1e300, 0.30000000000000004, 17};
  char path[PATH_SIZE], *text;
  if (size < 1) return;
  double from = times[(unsigned char)bytes[0] % 8];
  path_of(path, "stream.csv");
  write_bytes(path, bytes + 1, size - 1);
  size_t kept = resume(path, from), written;
  if (kept > 0) {
    text = read_bytes(path, &written);
    if (size > 1) CHECK(kept <= size - 1 && memcmp(text, bytes + 1, kept) == 0);
    ns_free(text);
    CHECK(resume(path, from) == kept);
  } else {
    text = read_bytes(path, &written);
    CHECK(written == size - 1 && memcmp(text, bytes + 1, written) == 0);
    ns_free(text);
  }
  unlink(path);
}

/* ---- libFuzzer, or a program of its own ---- */

typedef void Target(const char *bytes, size_t size);

static const struct {
  const char *name;
  Target *run;
} targets[] = {{"csv", fuzz_csv},         {"npy", fuzz_npy},       {"npz", fuzz_npz},      
               {"checkpoint", fuzz_checkpoint}, {"stream", fuzz_stream}, {"number", fuzz_number}};

/* A copy that ends where the bytes end, so that a sanitizer sees each one read past them. */
static void run_copy(Target *target, const char *bytes, size_t size) {
  char *copy = malloc(size ? size : 1);
  CHECK(copy);
  if (size > 0) memcpy(copy, bytes, size);
  target(copy, size);
  free(copy);
}

static Target *target_called(const char *name) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (strcmp(targets[i].name, name) == 0) return targets[i].run;
  return NULL;
}

#ifdef FUZZ_TARGET

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  run_copy(target_called(FUZZ_TARGET), (const char *)bytes, size);
  return 0;
}

#else

typedef struct Input {
  char *bytes;
  size_t size;
} Input;

static uint64_t seed;

/* A number below n; xorshift. */
static size_t below(size_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return n ? (size_t)(seed % n) : 0;
}

/* Changes `in`, which has room for as many bytes again and those of `other`. */
static void change(Input *in, const Input *other) {
  static const char odd[] = {0, -1, 127, -128, '"', ',', '\n', '\r', '#', '9', 'e', '.', ' ', ')', '\'', 1};
  size_t at = below(in->size + 1), length = below(in->size - at + 1), from = below(other->size);
  switch (below(6)) {
  case 0:
    if (at < in->size) in->bytes[at] ^= (char)(1 << below(8));
    break;
  case 1:
    if (at < in->size) in->bytes[at] = odd[below(sizeof odd)];
    break;
  case 2:
    memmove(in->bytes + at, in->bytes + at + length, in->size - at - length);
    in->size -= length;
    break;
  case 3:
    memmove(in->bytes + at + length, in->bytes + at, in->size - at);
    in->size += length;
    break;
  case 4:
    length = other->size - from;
    memcpy(in->bytes + at, other->bytes + from, length);
    in->size = at + length;
    break;
  default:
    memmove(in->bytes + at + 1, in->bytes + at, in->size - at);
    in->bytes[at] = odd[below(sizeof odd)];
    in->size++;
  }
}

int main(int argc, char **argv) {
  enum { CUTS = 200, CHANGES = 3, LARGEST = 1 << 16 };
  Target *target = argc > 4 ? target_called(argv[1]) : NULL;
  if (!target) return fprintf(stderr, "fuzz_files TARGET COUNT SEED FILE...\n"), 2;
  int nfiles = argc - 4;
  long inputs = 0;
  Input *files = ns_alloc((size_t)nfiles, sizeof *files), work = {malloc(16 * LARGEST), 0};
  CHECK(files && work.bytes);
  seed = strtoull(argv[3], NULL, 10) * UINT64_C(2654435761) + 88172645463325252u;
  for (int i = 0; i < nfiles; i++) {
    files[i].bytes = read_bytes(argv[4 + i], &files[i].size);
    CHECK(files[i].size <= LARGEST);
    for (size_t cut = 0; cut < files[i].size && cut < CUTS; cut++, inputs++) run_copy(target, files[i].bytes, cut);
    run_copy(target, files[i].bytes, files[i].size);
    inputs++;
  }
  for (long n = strtol(argv[2], NULL, 10); n > 0; n--, inputs++) {
    const Input *from = &files[below((size_t)nfiles)];
    work.size = from->size;
    memcpy(work.bytes, from->bytes, from->size);
    for (size_t k = below(CHANGES) + 1; k > 0; k--) change(&work, &files[below((size_t)nfiles)]);
    run_copy(target, work.bytes, work.size);
  }
  for (int i = 0; i < nfiles; i++) ns_free(files[i].bytes);
  ns_free(files);
  free(work.bytes);
  printf("%ld inputs\n", inputs);
  return 0;
}

#endif
