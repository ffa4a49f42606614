/*
** mixed_plane.h
** Contacts in the plane and rows with bounds as one box problem, by pivoting.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_PLANE_H
#define NS_SOLVERS_CONTACT_MIXED_PLANE_H

#include "solvers/contact/mixed_search.h"

/* Modes: asked for by name; as a step of a chain, whose failure it is only when it proves something. */
enum { NS_PLANE_STEP = 1 };
extern const NsMethod ns_mixed_plane;

/* The workspace that ns_mixed_plane reserves. */
typedef struct NsMixedPlane NsMixedPlane;

/* From the guess z, which becomes the answer; the status of the box problem. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mixed_plane_solve(NsMixedPlane *plane, const NsMixedView *v, double *z, NsSolverInfo *info);

#endif
