/*
** event_modes.h
** The problem of the next mode, and the equations of one mode, see event_modes.c. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

enum { NS_ED_SOLUTIONS = 8 }; /* solutions that are kept */

typedef enum Option { OPTION_STICK, OPTION_PLUS, OPTION_MINUS, OPTION_ALONG, OPTION_OPEN, OPTIONS } Option;

/* A joint, a contact with its friction, a relay, or rolling friction, which comes after its contact and opens with it. */
typedef struct Unit {
  int k, row;   /* its first row: index in ed->event.closed; row (of rolling friction: the row of the normal) */
  int friction; /* the row of its friction, or of a relay; -1: none */
  int first;    /* index of the friction's first row; without friction k */
  int normal;   /* of a contact and its friction: index of the normal; else -1 */
  int width;    /* of the friction */
  bool contact; /* it begins with a normal, and may open */
  bool moving;  /* u is not 0 */
  double d[2];  /* OPTION_ALONG: the direction */
  int count;    /* of its options */
  Option options[OPTIONS], option;
} Unit;

typedef struct Solution {
  signed char *option; /* m: by unit */
  double *z, *w;       /* m */
  double (*d)[2];      /* m: by unit */
  int score;
  double off; /* the part of their terms by which its equations and inequalities fail */
} Solution;

typedef struct NsModes {
  int n, nunits; /* rows, units */
  Unit *units;
  double *W, *q, *terms;  /* the problem; the sum of the |terms| of q */
  double *z, *w, *size;   /* multipliers; y''; the sum of the |terms| of y'' */
  double *A, *rhs, *part; /* workspace: the equations of a mode */
  double *share;          /* of the unknowns of the mode */
  double *change;         /* workspace: a column of the rows */
  double *turned;         /* 2 m: directions that are kept */
  double *answer;         /* z of the one-step solver */
  int *unknown, *rows;    /* workspace: rows of the unknowns of a mode */
  int *owner;             /* the unit of each row */
  double *unit;           /* powers of two: units of the rows */
  int kept;
  Solution solutions[NS_ED_SOLUTIONS];
} NsModes;

/* Takes memory for m rows; NULL: no memory. */
NsModes *ns_ed_modes_new(NsArena *arena, int m);

/*
** Decides which of the rows ed->event.closed are active, stick and slip in the mode that follows. Friction whose flag in ed->event.resting
** is set has u = 0. *impulse: there are no forces, and an impulse without collision, in ed->problem.z, goes before.
*/
NsStatus ns_ed_choose(NsEventDriven *ed, bool *impulse, NsError *err);

/* At the pole of the forces at `contact` (a normal's row): finds the impulse without collision that goes on, in ed->problem.z, or fails. */
NsStatus ns_ed_pass_pole(NsEventDriven *ed, int contact, NsError *err);

/* Takes the problem of the rows ed->event.closed: units, W, q, in units of the rows that are powers of two. */
void ns_ed_modes_take(NsEventDriven *ed, NsModes *s);

/* Whether the option of a unit is that it slips; the direction in which it does. */
static inline bool ns_ed_unit_slips(const Unit *unit) {
  return unit->friction >= 0 && (unit->option == OPTION_PLUS || unit->option == OPTION_MINUS || unit->option == OPTION_ALONG);
}

static inline const double *ns_ed_option_direction(const Unit *unit) {
  static const double plus[2] = {1, 0}, minus[2] = {-1, 0};
  return unit->option == OPTION_PLUS ? plus : unit->option == OPTION_MINUS ? minus : unit->d;
}

/* Whether the unit is rolling friction. */
static inline bool ns_ed_unit_rolls(const Unit *unit) {
  return unit->normal >= 0 && !unit->contact;
}

/* Of the friction of a contact: mu in the units of the problem, and its largest force mu lambda_n. */
double ns_ed_unit_mu(const NsEventDriven *ed, const NsModes *s, const Unit *unit);
double ns_ed_unit_bound(const NsEventDriven *ed, const NsModes *s, const Unit *unit);

/* Sets the forces of a contact's friction that slips, from its normal force. */
void ns_ed_unit_slip(const NsEventDriven *ed, NsModes *s, const Unit *unit);

/* The share in the forces of dependent rows of friction with this bound, where `most` is the largest one. */
double ns_ed_friction_share(double bound, double most);

/* The force of a relay that slips, in the units of the problem. */
double ns_ed_relay_force(const NsEventDriven *ed, const NsModes *s, const Unit *unit);

/* Lists the unknowns of the mode that the options say, rows of the problem: their number. Sets z of relays at a bound, else 0. */
int ns_ed_mode_unknowns(const NsEventDriven *ed, NsModes *s);

/* The element of W in row i for the unknown k, together with the friction that it brings along. */
double ns_ed_effective(const NsEventDriven *ed, const NsModes *s, int i, int k);

/*
** Solves the mode that the options say, where the friction of units in space that begins to slip from rest has the direction of its
** acceleration; its directions come near it. False: the equations of the mode have no solution.
*/
bool ns_ed_turn_directions(const NsEventDriven *ed, NsModes *s);

/* Solves A x = rhs (count); when A is singular, with shares of the forces in s->share. False: there is no solution. */
bool ns_ed_solve_equations(const NsEventDriven *ed, NsModes *s, int count, double *x);

/* y'' and the sums of its |terms| for the multipliers s->z: s->w, s->size. */
void ns_ed_mode_outputs(NsModes *s);

/* Solves the equations of the mode that the options say: s->z, s->w, s->size. False: there is no solution. */
bool ns_ed_mode_solve(const NsEventDriven *ed, NsModes *s);
