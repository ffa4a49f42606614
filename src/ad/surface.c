/*
** surface.c
** Piecewise polynomials of two variables.
*/
#include "ad/surface.h"

int ns_surface_rows(int degree, int m) {
  return (degree + 1) * (m + 1);
}

size_t ns_surface_room(int degree, int n, int m) {
  size_t rows = (size_t)ns_surface_rows(degree, m), pieces = rows * ((size_t)n + 1) + 2 * ((size_t)m + 1);
  return rows * sizeof(NsPiecewise) + pieces * sizeof(NsPiece) + (size_t)m * sizeof(double);
}

void ns_surface_lay_out(NsSurface *s, void *room, int degree, int n, int m) {
  int rows = ns_surface_rows(degree, m);
  *s = (NsSurface){.degree = degree, .n = n, .m = m, .rows = room};
  s->piece = (NsPiece *)(s->rows + rows);
  s->y = (double *)(ns_surface_row(s, rows) + 2 * (m + 1));
}

NsPiece *ns_surface_row(const NsSurface *s, int row) {
  return s->piece + (ptrdiff_t)row * (s->n + 1);
}

/* A curve with the knots of y that is `value` in each piece, if first >= 0 from that address on by `stride`; else the place. */
static NsPiecewise surface_knots(NsPiece *piece, const double *y, int m, NsOutside outside, double first, double stride) {
  for (int k = 0; k <= m; k++) {
    bool still = first >= 0 || (outside == NS_OUTSIDE_HOLD && (k == 0 || k == m));
    piece[k] = (NsPiece){y[k > 0 ? k - 1 : 0], {first >= 0 ? first + k * stride : 0, still ? 0 : 1, 0, 0}};
  }
  return ns_piecewise(m, piece, first >= 0 && outside == NS_OUTSIDE_EXTEND ? NS_OUTSIDE_HOLD : outside);
}

void ns_surface_close(NsSurface *s, NsOutside outside) {
  int rows = ns_surface_rows(s->degree, s->m);
  NsPiece *knots = ns_surface_row(s, rows);
  double stride = (s->degree + 1) * (double)sizeof *s->rows;
  for (int i = 0; i < rows; i++) s->rows[i] = ns_piecewise(s->n, ns_surface_row(s, i), outside);
  s->cell = surface_knots(knots, s->y, s->m, outside, ns_piecewise_address(s->rows), stride);
  s->place = surface_knots(knots + s->m + 1, s->y, s->m, outside, -1, 0);
}

double ns_surface_value(NsSurface *s, double x, double y) {
  double first = s->cell.value(&s->cell, y), v = s->place.value(&s->place, y), sum = 0;
  for (int p = s->degree; p >= 0; p--) {
    double c = ns_piecewise_value(x, first + p * (double)sizeof *s->rows);
    sum = p < s->degree ? sum * v + c : c;
  }
  return sum;
}
