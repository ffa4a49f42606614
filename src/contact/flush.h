/*
** flush.h
** Solids of one owner, the world or a body, that lie beside each other with faces in one plane: together they have one surface, as the triangles of a mesh do.
*/
#pragma once

#include "contact/touch.h"

/* The first face, by the order of shapes, of the flat part that a face belongs to. solid: NULL where no other face goes on in it. */
typedef struct NsFlushFace {
  int shape, face;
  const NsSolid *solid;
} NsFlushFace;

/*
** A solid with others beside it that have a face in the plane of one of its own. Within `slack` faces are in one plane, and points on a surface. inner:
** of each corner, whether it lies between points of the solids along an edge, so that it is no corner of them together.
*/
typedef struct NsFlush {
  int n;
  const NsSolid **beside;
  double slack;
  NsFlushFace *faces;
  bool *inner;
} NsFlush;

/* A solid, NULL: none, and what it belongs to; solids of one owner have the same axes. */
typedef struct NsFlushPart {
  const void *owner;
  const NsSolid *solid;
} NsFlushPart;

/* *flush: for each of the n parts what is beside it, or NULL; NULL when no part has any. It lives in the arena. NS_ENOMEM. */
NsStatus ns_flush_find(int n, const NsFlushPart *parts, NsArena *arena, NsFlush ***flush);

/*
** The touches of two solids as ns_narrow_touches finds them, of what the surface of the solids together has: no face that another solid covers, and edges and
** corners where the surface bends away. All corners over a face that goes on in others touch; their touches name the first face of
** its flat part. one, other: what is beside a and b, or NULL.
*/
NsStatus ns_flush_touches(NsNarrow *narrow, NsPlaced a, const NsFlush *one, NsPlaced b, const NsFlush *other, double reach);
