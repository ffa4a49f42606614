/*
** mixed_plane.h
** Contacts in the plane and rows with bounds as one box problem, solved by pivoting.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Mode 0: asked for by name. NS_PLANE_STEP: in a chain, which reports a failure only if it proves that no solution exists. */
enum { NS_PLANE_STEP = 1 };
extern const NsMethod ns_mixed_plane;

/* The workspace that ns_mixed_plane reserves. */
typedef struct NsMixedPlane NsMixedPlane;

/* The number of unknowns of the box problem: one for each row, and one more for each disc of a contact. */
int ns_mixed_plane_unknowns(const NsMixedView *v);

/* Solves v from the guess z, which becomes the answer; returns the status of the box problem, or NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_plane_solve(NsMixedPlane *plane, const NsMixedView *v, double *z, NsSolverInfo *info);
