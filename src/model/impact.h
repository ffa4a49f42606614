/*
** impact.h
** An impact of several contacts at once, as laws see it that share impulses among them.
*/
#pragma once

#include "model/law.h"

/*
** One contact: restitution e, 0 to 1; its force is proportional to stiffness * (indentation)^exponent. Only ratios of stiffnesses count, with
** equal exponents.
*/
typedef struct NsImpactContact {
  double e, stiffness, exponent;
} NsImpactContact;

/*
** The closed rows of an impact: n rows with W (n x n, column-major), velocities u (n) before it, and laws; a row is a contact, or an equation.
** e: restitution; 0 for equations, and for contacts that come to rest. solve: the impulses z (n) with W z + q = 0 in equations, and
** 0 <= W z + q _|_ z >= 0 in contacts. share: the impulses z of n contacts by their stored energy (integrators/motion/collision.h).
*/
typedef struct NsImpact {
  int n;
  const double *W, *u, *e;
  const bool *contact;
  const NsLaw *const *laws;
  NsStatus (*solve)(void *context, const double *q, double *z, NsError *err);
  void *context;
  NsStatus (*share)(int n, const double *W, const double *u, const NsImpactContact *contacts, double *z);
} NsImpact;
