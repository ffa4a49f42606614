/*
** mode_signs.h
** Whether the law of each row holds in a mode for t -> t+: signs of outputs and of distances to bounds, and of their derivatives.
*/
#pragma once

#include "integrators/flow/flow.h"

/* AGAINST: a law is violated. NONE: it holds, but derivatives up to order 2 are 0 in some row. FOR: it holds. */
typedef enum NsVerdict { NS_VERDICT_AGAINST, NS_VERDICT_NONE, NS_VERDICT_FOR } NsVerdict;

/* The point, and the rows that are undecided: their y is 0 if it depends on the state alone. */
typedef struct NsSignPoint {
  double t;
  const double *s;  /* nd */
  const bool *open; /* m */
} NsSignPoint;

/*
** Judges the mode that the flow was evaluated in at the point; the flow is again at the point afterwards. AGAINST: the text of err
** says why.
*/
NsStatus ns_signs_of_mode(NsFlow *flow, const NsSignPoint *at, NsVerdict *verdict, NsError *err);

/*
** After NONE: whether the second derivative of a quantity whose first one is 0 is against the mode (*against). The flow is again at the
** point afterwards.
*/
NsStatus ns_signs_bend(NsFlow *flow, const NsSignPoint *at, bool *against, NsError *err);

/* Whether y of a row depends on t and s alone, not on lambda or algebraic states, at the point of the last Jacobians. */
bool ns_row_is_of_state(const NsFlow *flow, int row);
