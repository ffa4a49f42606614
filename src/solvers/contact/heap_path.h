/*
** heap_path.h
** Heaps by the path of the solutions while the term that holds forces fades.
*/
#pragma once

#include "solvers/contact/mixed_measure.h"

typedef struct NsHeapPath NsHeapPath;

/* NS_ENOMEM. */
NsStatus ns_heap_path_new(NsHeapPath **out);
void ns_heap_path_free(NsHeapPath *path);

/* Begins the path whose term has its centre at z. W is sparse. NS_ENOMEM. */
NsStatus ns_heap_path_begin(NsHeapPath *path, const NsMixedView *v, const double *z);

/*
** Goes on along the path for `most` factorisations or a few more, which info->iterations counts. z becomes the point of the least measure on it since
** it began, *measure, and w its output. NS_OK: it is within tolerance. NS_EMAXITER: the path goes on. NS_ENOCONV: it has ended. NS_EINTR, NS_ENOMEM.
*/
NsStatus ns_heap_path_continue(NsHeapPath *path, const NsMixedView *v, int most, double *z, double *w, double *measure,
                               NsSolverInfo *info);
