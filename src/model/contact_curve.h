/*
** contact_curve.h
** How the Jacobians of ready-made contacts change with the coordinates.
*/
#pragma once

#include "model/contact.h"

/*
** At the coordinates q (nx), with C of ns_contact_rows (rows x nx):
**   second (rows x nx x nx)  entry (i, j, k): the derivative of C_ij by q_k; it is not symmetric in j and k
**   third (rows x nx)        entry (i, k): the derivative by q_k, at fixed w (nx), of the sum of second_ijl w_j w_l
** Exact. False: computeh sets the frame, or there are no derivatives at q (equal centres; a normal of two spheres with three rows at (0,
** 0, -1), where the tangents jump).
*/
bool ns_contact_curvature(const NsContact *contact, const double *q, const double *w, double *second, double *third);
