/*
** moreau_jean.h
** The workspace of the theta scheme of mechanics, and the functions that its files share. Private to them.
*/
#pragma once

#include <math.h>

#include "integrators/layout.h"

/* The options of MoreauJeanOSI and MoreauJeanGOSI. */
typedef struct NsMoreauJeanOptions {
  NsIntegrator base;
  double theta;           /* in [0, 1] */
  double gamma;           /* of the contact forecast, in [0, 2]; 1/2 by default; with 2 - theta no step ends beyond a contact */
  double threshold;       /* a contact takes part when its forecast is at most this, in the units of y; NAN: ns_mj_tolerance */
  bool linearly_implicit; /* exactly one Newton iteration from v_k, with M and H at q_k + h v_k */
} NsMoreauJeanOptions;

/* The fields of both classes of integrators. */
#define NS_MJ_FIELDS                                                                                                           \
  NS_FIELD_A_WEIGHT("theta", NsMoreauJeanOptions, theta),                                                                      \
      NS_FIELD_A_NUMBER("gamma", NsMoreauJeanOptions, gamma, 0, 2, NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_SHOWN),      \
      NS_FIELD_A_NUMBER("constraintActivationThreshold", NsMoreauJeanOptions, threshold, -INFINITY, INFINITY,                  \
                        NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_OPTIONAL)

/*
** The tolerance of a contact's forecast, to which the rounding of y is added: 1e-10 * h max(|u|, |change|), where `change` is
** the change of u by the forces of the step; 1e-3 instead of 1e-10 for a contact at rest (|u| <= 1e-6 |change|) that carried an
** impulse in the last step. The factors are chosen by experience on the specs.
*/
double ns_mj_tolerance(double h, double u, double change, double lambda_k);

/*
** The forecast of a contact with output y and velocity u, to which forces add `free` in the step. With gamma > 1 forces count, so that it is
** (1 - theta) h behind the place without impulses at the end of the step with gamma = 2 - theta; up to 1 they do not, as in Siconos.
*/
double ns_mj_forecast(const NsMoreauJeanOptions *options, double h, double y, double u, double free);

/* Whether the global form is better: a coefficient is sparse, or the interactions have many rows. */
bool ns_mj_global_preferred(const NsNsds *nsds);

/* The workspace of the dense form. Vectors are stacked over all coordinates, velocities or multipliers. */
typedef struct NsMoreauJean NsMoreauJean;

enum { MOST_CURVED = 12 }; /* second derivatives for up to so many coordinates (78 evaluations) */

/*
** How the axes of a rigid body turn in a step (turn.c): the rotation vector phi = h omega_theta; the momentum L of the start with the moments of the
** start; and L less its part I_11 omega_theta along phi, which no turn changes.
*/
typedef struct NsMjTurn {
  double phi[3], momentum[3], across[3];
} NsMjTurn;

/* A dynamical system. Its unknowns are its velocities. */
typedef struct NsMjNode {
  NsNode base;
  NsMechanicalDs *ds;
  bool linear;
  bool level;                         /* W was formed where forces left by_q and by_v 0, of a round mass */
  double *M;                          /* nv x nv, at the iterate; NULL: the constant coefficient */
  double *by_q, *by_qv, *by_v, *room; /* nv x nq, nv x nv, nv x nv; NULL for a linear system */
  double *factors_of;                 /* nv x nv: the W that was factored last; NULL for a linear system */
  NsMjTurn turn;                      /* of a rigid body: with which W was formed */
  double turned[3];                   /* what the turn of its axes changes in its momentum; see ns_mj_turn */
  double place, push, twist; /* sizes of its position, and of what the forces of the step change in its velocity and turn */
} NsMjNode;

/* An interaction. H of its parts is C T(q). */
typedef struct NsMjEdge {
  NsEdge base;
  bool linear, at_position;
  bool ready;         /* a ready-made contact of systems of its own */
  NsContact *contact; /* a ready-made contact, which has H only while it takes part; else NULL: a projection has all H */
  double lever;       /* of a ready-made contact, at the start of the step: see ns_contact_lever */
  double *C;          /* m x nx */
  uint64_t key;
  bool formed;                            /* H was formed from the constant C */
  bool frozen;                            /* H stays, in a step that is frozen */
  bool curved;                            /* this linearisation uses the second derivatives */
  double *second, *drift, *curve_room;    /* m x nx x nx: of h; m x nx: of dh/dt; nx + 3 m; NULL: not used */
  double *L_room[NS_INTERACTION_SYSTEMS]; /* m x nv each: L of its parts with second derivatives */
  double *rate;                           /* m: dh/dt at the start; NULL: it is 0, or not used */
  bool capped;                            /* its impact must not gain energy in this step: see ns_mj_revise */
  double *x_formed, *y_formed; /* nx, m: coordinates where C was evaluated last, and y there; NULL: C is evaluated each time */
} NsMjEdge;

/* The start of the step. */
typedef struct NsMjStart {
  double *q, *v, *F;            /* Nq, Nv, Nv */
  double *y, *u;                /* m */
  double *lambda, *restitution; /* m: the last multipliers, and the coefficients of the laws; see ns_mj_repeats */
} NsMjStart;

/*
** The step before. ended: q, v, y and u are of its end, and of contacts that took no part there they are from their frames. guessed: it began with
** extrapolated velocities. still: the present step has the same start, to the bit.
*/
typedef struct NsMjLast {
  NsMjStart start;
  bool ended, guessed, still;
} NsMjLast;

/* Where the problem was formed. */
typedef struct NsMjFrom {
  double *v, *lambda;
} NsMjFrom;

/* The projection of the coordinates. */
typedef struct NsMjShift {
  double *q_free; /* Nq: q before it */
  bool projected;
  bool combined;      /* combined projection: q includes the shift */
  double *shift, *nu; /* Nv, m: the shift; sums of its multipliers in a combined projection, else 0 */
  double *reluctance; /* nnodes: how much heavier a body turns in a projection than it does (1: as it is) */
  double *ways;       /* Nv: the largest way on which a single multiplier has sent each coordinate */
  struct {
    double *q, *shift, *nu; /* those of the least violation, of `keep` */
  } best;
  bool *shut; /* m: contacts that take part, by the forecast or by `enlarge` */
} NsMjShift;

/* Islands of impacts (bounce.c), nnodes each: the forest; at its roots the work of the impulses, and its rounding. NULL: H is constant. */
typedef struct NsMjBounce {
  int *island;
  double *work, *noise;
} NsMjBounce;

/* Of the problem: its constant part, and the start of its solver (m); 4 m; Nv: workspace, and the step without multipliers. */
typedef struct NsMjRoom {
  double *qvec, *guess, *rate_room, *work, *free_step;
  NsMjBounce bounce;
} NsMjRoom;

/* Whether its matrix is known, and for which step. */
typedef struct NsMjFormed {
  bool known;
  double h, theta;
} NsMjFormed;

struct NsMoreauJean {
  NsScheme base;
  NsLayout layout;
  bool linear;         /* all systems and relations are linear; base.linear: or the step is linearly implicit */
  bool positions;      /* some law acts at position */
  bool lin;            /* for derivatives: see NsSchemePlan */
  bool curves, curved; /* curves: second derivatives may be used (no friction); curved: an interaction uses them now */
  NsMjNode *nodes;
  NsMjEdge *edges;
  NsBlock *blocks;

  /* the step */
  NsMoreauJeanOptions options; /* the options when the step began */
  double t_k, t, h;
  NsMjStart start;
  NsMjLast last;
  bool decided, again; /* decided: the active contacts are chosen; again: `shut` is set already */
  bool predicts;       /* all laws are unilateral, so a step may be without impulses */
  bool frozen;         /* ready-made contacts that take part keep the H that they get first: see ns_mj_simplify */

  /* the iterate */
  double *q, *v, *lambda; /* Nq, Nv, m */
  NsMjFrom from;
  double *F, *p, *rho; /* Nv */
  double *held;        /* Nv: impulses of prescribed velocities */
  double *y, *u;       /* m: outputs and their velocities */
  struct NsMjVjp *vjp; /* see ns_mj_vjp; NULL: not made */
  NsMjShift settle;
  NsStepTest test;      /* N: Nv; delta: W^-1 rho */
  double *output_terms; /* m: terms of the rows of the problem */

  /* the problem */
  NsMixedGroup *groups;
  int *group_edge; /* row -> edge */
  double *matrix;  /* up to NS_MIXED_DENSE_ROWS rows */
  NsMjRoom room;
  NsSparse *sparse;
  NsMjFormed formed;
};

/*
** Exact second derivatives of the outputs. can_curve: whether an interaction has them; take_curve: takes memory for them.
** straighten: sets L = H everywhere. curve: sets L = H + h theta du/dq for the contacts that take part, at the evaluated
** iterate. curved: whether a system has such an interaction; subtract_curvature: W -= h theta d(H'P)/dq, without the blocks
** between two systems.
*/
bool ns_mj_can_curve(const NsMjEdge *edge);
void ns_mj_take_curve(NsMjEdge *edge, NsArena *arena);
void ns_mj_straighten(NsMoreauJean *mj);
void ns_mj_curve(NsMoreauJean *mj);
bool ns_mj_curved(const NsMoreauJean *mj, const NsMjNode *node);
void ns_mj_subtract_curvature(const NsMoreauJean *mj, NsMjNode *node);

/*
** Impacts that would gain energy (bounce.c). take: memory; begin: at the evaluated start of a step. rebound: of a contact that is
** capped, what the law adds to u in row i: e u_k, or H v_k where that is more (*follows: its derivative by H v_k). revise: at the
** solution of a step, whether impacts have gained energy; their contacts are capped then, to the end of the step. See NsSchemeWays.
*/
void ns_mj_take_bounce(NsMoreauJean *mj);
void ns_mj_begin_bounce(const NsMoreauJean *mj, NsMjEdge *edge);
double ns_mj_rebound(const NsMoreauJean *mj, const NsMjEdge *edge, int i, double *follows);
bool ns_mj_revise(NsScheme *scheme);

/* Whether the work of row i of a law counts as one of impacts: no friction, no damping. */
bool ns_mj_is_impact(const NsLaw *law, int i);

/* Forms and factors W at the evaluated iterate, without second derivatives of outputs and of the mass: the same on whatever way it was found. */
NsStatus ns_mj_form_weights(NsMoreauJean *mj, NsError *err);

/* X = W^-1 H' of each part whose W has changed, or H (`changed`). */
void ns_mj_solve_parts(NsMoreauJean *mj, NsMjEdge *edge, bool changed);

/* Computes q from v and the shift. */
void ns_mj_move_coordinates(NsMoreauJean *mj);

/* Computes outputs, H and impulses at q, v, lambda. `all`: also the outputs of contacts that take no part. */
NsStatus ns_mj_evaluate_outputs(NsMoreauJean *mj, bool all, NsError *err);

/* Chooses the contacts that take part in this step. Returns true when the choice has changed. */
bool ns_mj_decide(NsMoreauJean *mj);

/*
** With ready-made contacts that took part, whose normals and touching points change with q: the step gets their H at q_k + h v_k. Forces and
** other interactions stay implicit: a step that they make fail, fails. plausible: this H, or that of the
** solution of contacts with an impulse, is near to that of the start, beside the sizes of the bodies. See NsSchemeWays.
*/
bool ns_mj_simplify(NsScheme *scheme);
NsStatus ns_mj_plausible(const NsScheme *scheme, NsError *err);

/*
** Bodies that rest, or open contacts of bodies that do not move, have the same step again and again. note: at the end of `begin`, whether the step
** has the start of the last one (mj->last.still), and no data of the model or options have changed that it reads. repeats: see NsSchemeClass.
*/
void ns_mj_note_start(NsMoreauJean *mj, bool same);
bool ns_mj_repeats(NsScheme *scheme);

/* Whether the multipliers of the last step are those of the memories, before `begin` takes them: a script may have written others. */
bool ns_mj_knows_lambda(const NsMoreauJean *mj);

/* Adds the energies of the step to the account, which stays as it is on failure. */
NsStatus ns_mj_account(NsMoreauJean *mj, NsEnergyAccount *account, NsError *err);

/* Whether a step is one iteration of a nonlinear model, which leaves a residual. */
static inline bool ns_mj_leaves_residual(const NsMoreauJean *mj) {
  return mj->base.linear && !mj->linear;
}

/* Computes the constant part of the problem. */
void ns_mj_form_q(NsMoreauJean *mj);

/*
** Of a rigid body, whose axes turn in the step; nothing of other systems. turn: node->turned at the iterate. slope: adds its part to W, which has that
** of the forces. same: whether that part is the one that W was formed with last.
*/
void ns_mj_turn(const NsMoreauJean *mj, NsMjNode *node);
void ns_mj_turn_slope(const NsMoreauJean *mj, NsMjNode *node);
bool ns_mj_turn_same(const NsMoreauJean *mj, const NsMjNode *node);

/*
** rho = M (v - v_k) - turned - h theta F - h (1 - theta) F_k - p of one system at q; rows of prescribed velocities go to `held`. F is without the
** gyroscopic moment of a rigid body, whose part `turned` has.
*/
NsStatus ns_mj_form_rho(NsMoreauJean *mj, NsMjNode *node, const double *q, NsError *err);

/* Writes the compliance of viscous rows by the impulses of this step to D; their law is u + e u_k + D P = 0. */
void ns_mj_comply(NsMoreauJean *mj, const NsMjEdge *edge);

/* The law's output at the iterate: y, or u + e u_k, with the compliance of viscous rows. */
double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i);

/* See NsSchemeClass (residual.c). */
NsStepResidual ns_mj_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

/* The derivatives of a step (tangent.c). */
extern const NsSchemeTangent ns_mj_tangent;

/* The projection of the coordinates (project.c). */
extern const NsSchemeSettle ns_mj_settle;

/* Derivatives of a step, transposed, by numbers of linear systems (vjp.c): see NsStepVjp. */
NsStatus ns_mj_vjp(NsScheme *lin, const NsStepVjp *vjp, NsError *err);
