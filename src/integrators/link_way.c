/*
** link_way.c
** Looks at links along a way. The time of a change is found by bisection, as what changes is which features touch.
*/
#include "integrators/link_way.h"

#include <float.h>
#include <math.h>

#include "contact/scene.h"

enum { MAX_LOOKS = 1024, QUARTERS = 4 }; /* a way with more looks ends at the last one */

/* The part of the way to which bisection finds the change. */
static const double FOUND = 1e-14;

/* Whether links change at t. stride: NULL, or see NsLinker. */
static NsStatus way_look(const NsLinkWay *way, double t, bool *changed, double *stride, NsError *err) {
  way->lend(way->context, t);
  NsStatus status = way->linker->look(way->linker->context, changed, stride, err);
  return way->give_back(way->context), status;
}

/* Tells the linker the ways of the bodies. Returns the longest one: see ns_scene_way. */
static double way_measure(const NsLinkWay *way) {
  const NsLinker *linker = way->linker;
  double longest = 0;
  way->lend(way->context, way->from);
  linker->start(linker->context);
  way->give_back(way->context);
  for (int k = 1; k <= QUARTERS; k++) {
    way->lend(way->context, k < QUARTERS ? way->from + (way->to - way->from) * k / QUARTERS : way->to);
    longest = linker->way(linker->context, QUARTERS);
    way->give_back(way->context);
  }
  return longest;
}

/* Looks along the way, up to *b. */
static NsStatus way_stride(const NsLinkWay *way, double *a, double *b, bool *changed, NsError *err) {
  const NsLinker *linker = way->linker;
  double length = way->to - way->from, stride = 1;
  linker->forget(linker->context);
  NsStatus status = way_look(way, way->from, changed, &stride, err);
  *changed = false; /* what is near there counts from the next look on */
  for (int k = 0; k < MAX_LOOKS && *b < way->to && !*changed && status == NS_OK; k++) {
    *a = *b, *b = fmin(fmax(*b + stride * length, nextafter(*b, INFINITY)), way->to);
    stride = 1;
    status = way_look(way, *b, changed, &stride, err);
  }
  return linker->forget(linker->context), status;
}

NsStatus ns_link_way_bracket(const NsLinkWay *way, double *a, double *b, NsError *err) {
  bool changed = false;
  NsStatus status = NS_OK;
  *a = *b = way->from;
  if (way_measure(way) > NS_SCENE_LOOK) status = way_stride(way, a, b, &changed, err);
  else *b = way->to, status = way_look(way, way->to, &changed, NULL, err);
  if (!changed) *a = *b, *b = INFINITY;
  return status;
}

NsStatus ns_link_way_narrow(const NsLinkWay *way, double *a, double *b, NsError *err) {
  double least = FOUND * (way->to - way->from) + 2 * DBL_EPSILON * fabs(way->to);
  NsStatus status = NS_OK;
  while (*b - *a > least && status == NS_OK) {
    bool changed = false;
    double middle = *a + (*b - *a) / 2;
    status = way_look(way, middle, &changed, NULL, err);
    *(changed ? b : a) = middle;
  }
  return status;
}

NsStatus ns_link_way_refuse(double t, NsError *err) {
  return ns_fail(
      err, NS_EARG,
      "EventDriven: contacts come or go at t=%.10g: derivatives hold where links of contacts stay; let the run end before", t);
}
