/*
** dump.c
** Writes a one-step problem to a file.
*/
#include "simulation/dump.h"

#include <math.h>

#include "io/file.h"
#include "io/number.h"
#include "simulation/merged.h"

static void print_number(NsFile *file, double x) {
  char text[NS_NUMBER_TEXT];
  if (isnan(x)) {
    ns_file_print(file, "0/0");
  } else if (isinf(x)) {
    ns_file_print(file, "%smath.huge", x < 0 ? "-" : "");
  } else {
    size_t size = ns_number_format(text, x);
    ns_file_write(file, text, size);
  }
}

/* Writes "  name = {1, 2}," with n numbers of v, `stride` apart. */
static void print_vector(NsFile *file, const char *name, const double *v, int n, int stride) {
  ns_file_print(file, "  %s%s{", name, name[0] ? " = " : "  ");
  for (int i = 0; i < n; i++) {
    if (i) ns_file_print(file, ", ");
    print_number(file, v[(ptrdiff_t)i * stride]);
  }
  ns_file_print(file, "},\n");
}

static void print_member(NsFile *file, const char *name, double value) {
  ns_file_print(file, ", %s = ", name);
  print_number(file, value);
}

/* Writes the groups of rows in the form that ns.numerics.generic_mechanical takes. */
static void print_groups(NsFile *file, const NsOsnsp *problem) {
  ns_file_print(file, "  groups = {\n");
  for (int g = 0; g < problem->ngroups; g++) {
    const NsMixedGroup *group = &problem->groups[g];
    ns_file_print(file, "    {dim = %d", group->dim);
    for (int k = 0; group->cone && k < group->cone->discs; k++) print_member(file, group->cone->coefficient[k], group->mu[k]);
    if (!group->cone) print_member(file, "lower", group->lower), print_member(file, "upper", group->upper);
    ns_file_print(file, "},\n");
  }
  ns_file_print(file, "  },\n");
}

/* The problem of island k from 0, with the rows in the whole of its rows (NULL: the same ones); NULL after the last. */
static const NsOsnsp *dump_part(const NsOsnsp *whole, int k, const int **place) {
  *place = NULL;
  return whole->merged ? ns_merged_part(whole->merged, k, place) : k == 0 ? whole : NULL;
}

/* Whether each part that has rows has a matrix, dense or sparse. */
static bool dump_has_matrix(const NsOsnsp *whole) {
  const int *place;
  const NsOsnsp *part;
  for (int k = 0; (part = dump_part(whole, k, &place)); k++)
    if (part->m > 0 && (part->sparse || (!part->M && !ns_osnsp_columns(part)))) return false;
  return true;
}

/* Writes the rows (what 'i'), columns ('j') or values ('v') of all entries that are not 0, rows and columns from 1. */
static void print_entries(NsFile *file, const NsOsnsp *whole, char what) {
  const int *place;
  const NsOsnsp *part;
  ns_file_print(file, "    %c = {", what);
  for (int k = 0; (part = dump_part(whole, k, &place)); k++) {
    const NsSparse *S = part->M ? NULL : ns_osnsp_columns(part);
    for (int j = 0; j < part->m; j++)
      for (int e = S ? S->colptr[j] : 0, end = S ? S->colptr[j + 1] : part->m; e < end; e++) {
        int i = S ? S->row[e] : e, at = what == 'i' ? i : j;
        double value = S ? S->value[e] : part->M[i + (size_t)j * (size_t)part->m];
        if (value == 0) continue;
        print_number(file, what == 'v' ? value : (place ? place[at] : at) + 1);
        ns_file_print(file, ",");
      }
  }
  ns_file_print(file, "},\n");
}

static void print_matrix(NsFile *file, const NsOsnsp *problem, const double *M) {
  int m = problem->m;
  ns_file_print(file, M ? "  M = {\n" : "  M = {rows = %d, cols = %d,\n", m, m);
  for (int i = 0; M && i < m; i++) print_vector(file, "", M + i, m, m);
  for (const char *what = "ijv"; !M && *what; what++) print_entries(file, problem, *what);
  ns_file_print(file, "  },\n");
}

NsStatus ns_osnsp_dump(const NsOsnsp *problem, const char *path, NsError *err) {
  NsFile *file;
  int m = problem->m;
  bool sparse = ns_osnsp_is_sparse(problem);
  const double *M = sparse ? NULL : ns_osnsp_matrix(problem);
  if (sparse && !dump_has_matrix(problem))
    return ns_fail(err, NS_EARG, "%s: the one-step problem is a sparse one, which can not be dumped",
                   ns_osnsp_name(problem->kind));
  if (!ns_osnsp_solved(problem))
    return ns_fail(err, NS_EARG, "%s: no one-step problem has been solved yet", ns_osnsp_name(problem->kind));
  if (!M && !sparse) return ns_fail(err, NS_ENOMEM, "not enough memory");
  NsStatus status = ns_file_open(&file, path, err);
  if (status != NS_OK) return status;
  ns_file_print(file, "-- y = M lambda + q, -y in the normal cone of [lower, upper] at lambda\nreturn {\n");
  ns_file_print(file, "  kind = \"%s\", status = \"%s\", residual = ", ns_osnsp_name(problem->kind),
                ns_status_name(problem->info.status));
  print_number(file, problem->info.residual);
  ns_file_print(file, ",\n");
  print_matrix(file, problem, M);
  print_vector(file, "q", problem->q, m, 1);
  print_vector(file, "lower", problem->lower, m, 1);
  print_vector(file, "upper", problem->upper, m, 1);
  if (problem->polyhedron) {
    ns_file_print(file, "  H = {\n");
    for (int r = 0; r < problem->rows; r++) print_vector(file, "", problem->H + r, m, problem->rows);
    ns_file_print(file, "  },\n");
    print_vector(file, "K", problem->K, problem->rows, 1);
  }
  if (ns_osnsp_has_contacts(problem)) print_groups(file, problem);
  print_vector(file, "lambda", problem->lambda, m, 1);
  print_vector(file, "y", problem->y, m, 1);
  ns_file_print(file, "}\n");
  return ns_file_commit(file, err);
}
