/*
** link_way.h
** A way of bodies, along which contacts may come or go (NsLinker): the first time at which links change.
*/
#pragma once

#include "model/nsds.h"

/* The smooth way from `from` to `to`. lend: gives the systems the coordinates at a time; give_back: those that they had. */
typedef struct NsLinkWay {
  const NsLinker *linker;
  double from, to;
  void (*lend)(void *context, double t);
  void (*give_back)(void *context);
  void *context;
} NsLinkWay;

/*
** The first change of links is in (*a, *b]. *b = INFINITY: there is none up to *a, which is `to`, or before it, where the way is so long that it takes more
** looks than a step is worth. What is near at the start counts from the next look on.
*/
NsStatus ns_link_way_bracket(const NsLinkWay *way, double *a, double *b, NsError *err);

/* Makes the bracket shorter, down to some roundings of the way. */
NsStatus ns_link_way_narrow(const NsLinkWay *way, double *a, double *b, NsError *err);

/* NS_EARG: a run with derivatives links nothing at t. */
NsStatus ns_link_way_refuse(double t, NsError *err);

/* A part of the way: how far behind a change a repeated step may have to end at first, to show it. */
#define NS_LINK_WAY_BEHIND 1e-13
