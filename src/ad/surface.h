/*
** surface.h
** Functions of two numbers that are piecewise polynomials in each: interpolated data on a grid.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ad/piecewise.h"

/*
** f(x, y) = sum of c_p(x) v^p, v the place of y in its interval: for each interval the curves c_0 .. c_degree follow each other
** in `rows`. `cell` is the address of the first one as a function of y, `place` is v. The surface and its room stay where they are in memory, as
** curves do.
*/
typedef struct NsSurface {
  NsPiecewise cell, place;
  int degree, n, m; /* m knots in y, n knots in x */
  NsPiecewise *rows;
  NsPiece *piece; /* of each row, n + 1 */
  double *y;      /* m */
} NsSurface;

/* The number of rows; the bytes of room for a surface. */
int ns_surface_rows(int degree, int m);
size_t ns_surface_room(int degree, int n, int m);

/* Lays the surface out in this room; its pieces and knots are to be set, and then ns_surface_close makes the curves of them. */
void ns_surface_lay_out(NsSurface *s, void *room, int degree, int n, int m);
void ns_surface_close(NsSurface *s, NsOutside outside);

/* The pieces of a row (from 0). */
NsPiece *ns_surface_row(const NsSurface *s, int row);

double ns_surface_value(NsSurface *s, double x, double y);
