/*
** mode.h
** The choice of the next mode of a first-order model: after an event, at the start of a run, after an action of the user.
*/
#pragma once

#include "integrators/flow/flow.h"

/*
** What to do when several modes are possible and their motions differ. ERROR: fail, and list them. STAY: the mode with most
** rows at y = 0, LEAVE: with fewest. UP, DOWN: the mode with most rows at y > 0, or y < 0. A mode whose rows all have a derivative
** that is not 0 goes before one that rounding may forbid.
*/
typedef enum NsAmbiguity {
  NS_AMBIGUITY_ERROR,
  NS_AMBIGUITY_STAY,
  NS_AMBIGUITY_UP,
  NS_AMBIGUITY_DOWN,
  NS_AMBIGUITY_LEAVE
} NsAmbiguity;

/* The words of the option `ambiguity`, in the order of NsAmbiguity, NULL at the end. */
extern const char *const ns_ambiguity_words[];

enum { NS_MODE_TEXT = 400 };

/* What a choice has found. */
typedef struct NsModeChoice {
  int count;               /* number of possible modes with different motions; 1: the next mode is unique */
  bool jumped;             /* ns_mode_start: a differential state has changed */
  char text[NS_MODE_TEXT]; /* count > 1: the modes, "'relay' y > 0; 'relay' y < 0; 'relay' slides (y = 0)" */
} NsModeChoice;

/*
** Finds the mode of the motion that follows (t, s). Rows with a flag in open (m) are undecided: their y is 0, or their lambda
** is at a bound with y = 0, up to the accuracy of the event. The other rows keep their mode, unless no mode is possible then. If
** lambda jumps in the mode found, rows that slide may leave, too: their modes are compared with it (up to NS_MODE_OPEN rows).
** A mode is possible when the law of each row holds on its smooth motion for t -> t+: the sign of the first derivative (of
** order 0 to 2) of y, or of the distance of lambda to its bound, that is not 0. Modes with the same motion count as one: one
** whose next derivative is not against it goes first, then the one with least change of lambda. Modes that need an impulse
** are left out where one that needs none is possible. All modes of up to NS_MODE_OPEN open rows are tried; of more open rows, those near
** the solution of the problem of the leading terms, and then the choice is not known to be unique.
** The chosen mode is set in the flow, and the flow is evaluated there. Stewart, Numer. Math. 58, 1990; Acary and Brogliato,
** Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 8; Dieci and Lopez, J. Comput. Appl. Math. 236, 2012.
** NS_ENOSOL when no mode is possible, or when several are and the rule is ERROR; err names the rows. Statuses of
** ns_flow_evaluate.
*/
NsStatus ns_mode_choose(NsFlow *flow, double t, const double *s, const bool *open, NsAmbiguity rule, NsModeChoice *choice,
                        NsError *err);

enum { NS_MODE_OPEN = 8 };

/*
** Whether the law of each row can hold in the mode of the flow for t -> t+ (*possible), with the rows `open` as above. Evaluates the
** flow at (t, s). Statuses of ns_flow_evaluate.
*/
NsStatus ns_mode_judge(NsFlow *flow, double t, const double *s, const bool *open, bool *possible, NsError *err);

/*
** The start of a run, or a restart after a change of the state, at the states x (n) and the multipliers lambda (m): all rows
** are undecided. Computes algebraic states, multipliers and the mode; s (nd) receives the differential states. They jump only
** where an impulse of a one-sided multiplier must mend y < 0, by 0 <= y(x + M^-1 B p) _|_ p >= 0; relays never cause a jump.
** NS_ENOSOL when the state can not be made consistent; err names the rows. Statuses of ns_mode_choose.
*/
NsStatus ns_mode_start(NsFlow *flow, double t, const double *x, const double *lambda, NsAmbiguity rule, double *s,
                       NsModeChoice *choice, NsError *err);

/*
** After an event with the undecided rows `open` (m; NULL: none): where the chosen mode has other constraints that the states s (nd) do not
** fulfil, as after a switch to an algebraic equation, an impulse of the unknowns w brings them there. NS_ENOSOL when none does:
** multipliers with two bounds have none.
*/
NsStatus ns_mode_jump(NsFlow *flow, double t, double *s, const bool *open, bool *jumped, NsError *err);
