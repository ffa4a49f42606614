/*
** shape.h
** What the shapes of contacts share. Private to model/: contact.c and contact_curve.c use it, too.
*/
#pragma once

#include "contact/space.h"
#include "model/contact.h"

enum { SPACE = 3, MOST_COORDINATES = 14, MOST_ROWS = NS_CONTACT_ROWS };

/*
** How a row changes. Of d: its derivative by each coordinate, and the rate of that along w. Of a, for each body: the value, its rate
** along w, and the same derivatives.
*/
typedef struct NsShapeCurve {
  double d_k[MOST_COORDINATES][SPACE], d_rate_k[MOST_COORDINATES][SPACE];
  double a[2][SPACE], a_rate[2][SPACE];
  double a_k[2][MOST_COORDINATES][SPACE], a_rate_k[2][MOST_COORDINATES][SPACE];
} NsShapeCurve;

/* The gap and the frame of a ball of radius R1 (0: a point) around `centre` on the plane. */
void ns_shape_ball_gap(NsContact *contact, const double *centre, double *gap);

/*
** The second derivative of the arm c + 2 e_0 f x c + 2 f x (f x c) of a point c along the quaternions x and y. The arm's terms of
** second order are half of it with x = y = e; its rate along y is that with x = e.
*/
void ns_shape_bend_arm(const double *c, const double *x, const double *y, double *out);

/* NsShapeClass.gap, .rate and .curve of a ball of radius R1 (0: a point) on the plane, around the point `corner` of a body that turns. */
int ns_shape_fixed_ball_gap(NsContact *contact, const double *q, double *gap);
bool ns_shape_fixed_ball_rate(const NsContact *contact, const double *q, const double *w, NsContactFrame *rate);
bool ns_shape_fixed_ball_curve(const NsContact *contact, const double *q, const double *w, NsShapeCurve *rows);

/* The directions of the rows: the normal and, with three rows, the tangents. */
void ns_shape_directions(const NsContact *contact, const double *normal, double d[MOST_ROWS][SPACE]);
