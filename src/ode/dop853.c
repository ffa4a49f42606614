/*
** dop853.c
** Dormand and Prince's method of order 8: stages, error estimate, step control, dense output.
*/
#include "ode/dop853.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "ode/control.h"

/* The 12 stages, the derivative at the end (12) and the three of the dense output; its polynomials beyond the cubic. */
enum { STAGES = 12, ALL_STAGES = 16, DENSE = 7, DENSE_ROWS = DENSE - 3 };

static const double nodes[ALL_STAGES] = {0.0,
                                         0.526001519587677318785587544488e-01,
                                         0.789002279381515978178381316732e-01,
                                         0.118350341907227396726757197510,
                                         0.281649658092772603273242802490,
                                         0.333333333333333333333333333333,
                                         0.25,
                                         0.307692307692307692307692307692,
                                         0.651282051282051282051282051282,
                                         0.6,
                                         0.857142857142857142857142857142,
                                         1.0,
                                         1.0,
                                         0.1,
                                         0.2,
                                         0.777777777777777777777777777778};

/* Row 12 are the weights of the solution. */
static const NsOdeRow stages[ALL_STAGES] = {
    {0, {{0, 0}}},
    {1, {{0, 5.26001519587677318785587544488e-2}}},
    {2, {{0, 1.97250569845378994544595329183e-2}, {1, 5.91751709536136983633785987549e-2}}},
    {2, {{0, 2.95875854768068491816892993775e-2}, {2, 8.87627564304205475450678981324e-2}}},
    {3,
     {{0, 2.41365134159266685502369798665e-1},
      {2, -8.84549479328286085344864962717e-1},
      {3, 9.24834003261792003115737966543e-1}}},
    {3,
     {{0, 3.7037037037037037037037037037e-2},
      {3, 1.70828608729473871279604482173e-1},
      {4, 1.25467687566822425016691814123e-1}}},
    {4,
     {{0, 3.7109375e-2}, {3, 1.70252211019544039314978060272e-1}, {4, 6.02165389804559606850219397283e-2}, {5, -1.7578125e-2}}},
    {5,
     {{0, 3.70920001185047927108779319836e-2},
      {3, 1.70383925712239993810214054705e-1},
      {4, 1.07262030446373284651809199168e-1},
      {5, -1.53194377486244017527936158236e-2},
      {6, 8.27378916381402288758473766002e-3}}},
    {6,
     {{0, 6.24110958716075717114429577812e-1},
      {3, -3.36089262944694129406857109825},
      {4, -8.68219346841726006818189891453e-1},
      {5, 2.75920996994467083049415600797e1},
      {6, 2.01540675504778934086186788979e1},
      {7, -4.34898841810699588477366255144e1}}},
    {7,
     {{0, 4.77662536438264365890433908527e-1},
      {3, -2.48811461997166764192642586468},
      {4, -5.90290826836842996371446475743e-1},
      {5, 2.12300514481811942347288949897e1},
      {6, 1.52792336328824235832596922938e1},
      {7, -3.32882109689848629194453265587e1},
      {8, -2.03312017085086261358222928593e-2}}},
    {8,
     {{0, -9.3714243008598732571704021658e-1},
      {3, 5.18637242884406370830023853209},
      {4, 1.09143734899672957818500254654},
      {5, -8.14978701074692612513997267357},
      {6, -1.85200656599969598641566180701e1},
      {7, 2.27394870993505042818970056734e1},
      {8, 2.49360555267965238987089396762},
      {9, -3.0467644718982195003823669022}}},
    {9,
     {{0, 2.27331014751653820792359768449},
      {3, -1.05344954667372501984066689879e1},
      {4, -2.00087205822486249909675718444},
      {5, -1.79589318631187989172765950534e1},
      {6, 2.79488845294199600508499808837e1},
      {7, -2.85899827713502369474065508674},
      {8, -8.87285693353062954433549289258},
      {9, 1.23605671757943030647266201528e1},
      {10, 6.43392746015763530355970484046e-1}}},
    {8,
     {{0, 5.42937341165687622380535766363e-2},
      {5, 4.45031289275240888144113950566},
      {6, 1.89151789931450038304281599044},
      {7, -5.8012039600105847814672114227},
      {8, 3.1116436695781989440891606237e-1},
      {9, -1.52160949662516078556178806805e-1},
      {10, 2.01365400804030348374776537501e-1},
      {11, 4.47106157277725905176885569043e-2}}},
    {8,
     {{0, 5.61675022830479523392909219681e-2},
      {6, 2.53500210216624811088794765333e-1},
      {7, -2.46239037470802489917441475441e-1},
      {8, -1.24191423263816360469010140626e-1},
      {9, 1.5329179827876569731206322685e-1},
      {10, 8.20105229563468988491666602057e-3},
      {11, 7.56789766054569976138603589584e-3},
      {12, -8.298e-3}}},
    {8,
     {{0, 3.18346481635021405060768473261e-2},
      {5, 2.83009096723667755288322961402e-2},
      {6, 5.35419883074385676223797384372e-2},
      {7, -5.49237485713909884646569340306e-2},
      {10, -1.08347328697249322858509316994e-4},
      {11, 3.82571090835658412954920192323e-4},
      {12, -3.40465008687404560802977114492e-4},
      {13, 1.41312443674632500278074618366e-1}}},
    {8,
     {{0, -4.28896301583791923408573538692e-1},
      {5, -4.69762141536116384314449447206},
      {6, 7.68342119606259904184240953878},
      {7, 4.06898981839711007970213554331},
      {8, 3.56727187455281109270669543021e-1},
      {12, -1.39902416515901462129418009734e-3},
      {13, 2.9475147891527723389556272149},
      {14, -9.15095847217987001081870187138}}},
};

/* The embedded formulas, as differences from the solution: of order 5, and of order 3 (beside the weights). */
static const NsOdeRow fifth = {8,
                               {{0, 0.1312004499419488073250102996e-1},
                                {5, -0.1225156446376204440720569753e1},
                                {6, -0.4957589496572501915214079952},
                                {7, 0.1664377182454986536961530415e1},
                                {8, -0.3503288487499736816886487290},
                                {9, 0.3341791187130174790297318841},
                                {10, 0.8192320648511571246570742613e-1},
                                {11, -0.2235530786388629525884427845e-1}}};
static const NsOdeRow third = {
    3,
    {{0, 0.244094488188976377952755905512}, {8, 0.733846688281611857341361741547}, {11, 0.220588235294117647058823529412e-1}}};

static const NsOdeRow dense_rows[4] = {
    {12,
     {{0, -0.84289382761090128651353491142e1},
      {5, 0.56671495351937776962531783590},
      {6, -0.30689499459498916912797304727e1},
      {7, 0.23846676565120698287728149680e1},
      {8, 0.21170345824450282767155149946e1},
      {9, -0.87139158377797299206789907490},
      {10, 0.22404374302607882758541771650e1},
      {11, 0.63157877876946881815570249290},
      {12, -0.88990336451333310820698117400e-1},
      {13, 0.18148505520854727256656404962e2},
      {14, -0.91946323924783554000451984436e1},
      {15, -0.44360363875948939664310572000e1}}},
    {12,
     {{0, 0.10427508642579134603413151009e2},
      {5, 0.24228349177525818288430175319e3},
      {6, 0.16520045171727028198505394887e3},
      {7, -0.37454675472269020279518312152e3},
      {8, -0.22113666853125306036270938578e2},
      {9, 0.77334326684722638389603898808e1},
      {10, -0.30674084731089398182061213626e2},
      {11, -0.93321305264302278729567221706e1},
      {12, 0.15697238121770843886131091075e2},
      {13, -0.31139403219565177677282850411e2},
      {14, -0.93529243588444783865713862664e1},
      {15, 0.35816841486394083752465898540e2}}},
    {12,
     {{0, 0.19985053242002433820987653617e2},
      {5, -0.38703730874935176555105901742e3},
      {6, -0.18917813819516756882830838328e3},
      {7, 0.52780815920542364900561016686e3},
      {8, -0.11573902539959630126141871134e2},
      {9, 0.68812326946963000169666922661e1},
      {10, -0.10006050966910838403183860980e1},
      {11, 0.77771377980534432092869265740},
      {12, -0.27782057523535084065932004339e1},
      {13, -0.60196695231264120758267380846e2},
      {14, 0.84320405506677161018159903784e2},
      {15, 0.11992291136182789328035130030e2}}},
    {12,
     {{0, -0.25693933462703749003312586129e2},
      {5, -0.15418974869023643374053993627e3},
      {6, -0.23152937917604549567536039109e3},
      {7, 0.35763911791061412378285349910e3},
      {8, 0.93405324183624310003907691704e2},
      {9, -0.37458323136451633156875139351e2},
      {10, 0.10409964950896230045147246184e3},
      {11, 0.29840293426660503123344363579e2},
      {12, -0.43533456590011143754432175058e2},
      {13, 0.96324553959188282948394950600e2},
      {14, -0.39177261675615439165231486172e2},
      {15, -0.14972683625798562581422125276e3}}},
};

struct NsDop853 {
  NsOdeProblem problem;
  NsDop853State state;
  NsArena arena;
  double *y_old, *y, *trial, *sum;
  double *K[ALL_STAGES]; /* derivatives; K[0] at the start, K[STAGES] at the end of a step */
  double *F[DENSE];      /* the dense output's coefficients */
  double t_end, h_limit;
  const double *pace; /* NULL: plain scales */
  int places;
  bool start_known, end_known; /* K[0] is that of y at t; K[STAGES] is that of y */
};

NsStatus ns_dop853_new(NsDop853 **out, const NsOdeProblem *problem) {
  *out = NULL;
  NsDop853 *rk = ns_alloc(1, sizeof *rk);
  if (!rk) return NS_ENOMEM;
  int n = problem->n;
  rk->problem = *problem;
  double **vectors[] = {&rk->y_old, &rk->y, &rk->trial, &rk->sum};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&rk->arena, n);
  for (int i = 0; i < ALL_STAGES; i++) rk->K[i] = ns_arena_doubles(&rk->arena, n);
  for (int i = 0; i < DENSE; i++) rk->F[i] = ns_arena_doubles(&rk->arena, n);
  rk->state.y_old = rk->y_old;
  rk->state.y = rk->y;
  if (rk->arena.failed) {
    ns_dop853_free(rk);
    return NS_ENOMEM;
  }
  *out = rk;
  return NS_OK;
}

void ns_dop853_free(NsDop853 *rk) {
  if (!rk) return;
  ns_arena_release(&rk->arena);
  ns_free(rk);
}

const NsDop853State *ns_dop853_state(const NsDop853 *rk) {
  return &rk->state;
}

void ns_dop853_start(NsDop853 *rk, double t, const double *y, double t_end, double h_first) {
  rk->state = (NsDop853State){.t_old = t, .t = t, .h_next = h_first, .y_old = rk->y_old, .y = rk->y};
  rk->t_end = t_end;
  rk->h_limit = INFINITY;
  rk->start_known = false;
  ns_dop853_replace(rk, y);
}

void ns_dop853_replace(NsDop853 *rk, const double *y) {
  memmove(rk->y, y, (size_t)rk->problem.n * sizeof *y);
  rk->end_known = false;
}

void ns_dop853_weigh(NsDop853 *rk, const double *pace, int places) {
  rk->pace = pace;
  rk->places = places;
}

void ns_dop853_limit(NsDop853 *rk, double h_most) {
  rk->h_limit = h_most;
}

/* ---- stages ---- */

static NsStatus dop853_rate(NsDop853 *rk, double t, const double *y, double *ydot, NsError *err) {
  return ns_ode_rate(&rk->problem, t, y, ydot, &rk->state.evaluations, err);
}

/* sum (n) = the terms of a row. */
static void dop853_combine(const NsDop853 *rk, const NsOdeRow *row, double *sum) {
  ns_ode_combine(rk->problem.n, row, rk->K, sum);
}

/* K[stage], from (t_old, y_old) with the length h; `at` gets the argument. */
static NsStatus take_stage(NsDop853 *rk, int stage, double h, double *at, NsError *err) {
  ns_ode_point(rk->problem.n, &stages[stage], rk->K, rk->y_old, h, at);
  return dop853_rate(rk, rk->state.t_old + nodes[stage] * h, at, rk->K[stage], err);
}

/* From (t_old, y_old), K[0] known: the solution after h into `trial`, and K[STAGES] there. */
static NsStatus dop853_take_stages(NsDop853 *rk, double h, NsError *err) {
  for (int s = 1; s <= STAGES; s++) {
    NsStatus status = take_stage(rk, s, h, rk->trial, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* ---- step control ---- */

static double dop853_scale(const NsDop853 *rk, int i, double a, double b) {
  return rk->problem.atol[i] + rk->problem.rtol * ns_ode_larger(fabs(a), fabs(b));
}

/* What is accepted of the error of element i in the trial, which has the length h. */
static double trial_scale(const NsDop853 *rk, int i, double h) {
  double a = rk->y_old[i], b = rk->trial[i];
  if (!rk->pace) return dop853_scale(rk, i, a, b);
  double size = i < rk->places ? fabs(b - a) : ns_ode_larger(fabs(a), fabs(b));
  double accepted = rk->problem.atol[i] + fabs(h) * rk->pace[i] + rk->problem.rtol * size, least = ns_ode_least(rk->state.t);
  if (fabs(h) > 64 * least) return accepted;
  return accepted + 4 * least * ns_ode_larger(fabs(rk->K[0][i]), fabs(rk->K[STAGES][i]));
}

/* The estimated error of the trial over what is accepted: the fifth-order one, damped by the third-order one. */
static double dop853_error_norm(NsDop853 *rk, double h) {
  int n = rk->problem.n, counted = 0;
  double five = 0, three = 0;
  double *e5 = rk->F[0], *e3 = rk->F[1];
  dop853_combine(rk, &fifth, e5);
  dop853_combine(rk, &stages[STAGES], e3);
  dop853_combine(rk, &third, rk->sum);
  for (int i = 0; i < n; i++) {
    double s = trial_scale(rk, i, h);
    if (s == INFINITY) continue;
    if (s == 0) s = DBL_MIN;
    counted++;
    five += e5[i] / s * (e5[i] / s);
    three += (e3[i] - rk->sum[i]) / s * ((e3[i] - rk->sum[i]) / s);
  }
  if (five == 0) return 0;
  double norm = fabs(h) * five / sqrt((five + 0.01 * three) * counted);
  return isfinite(norm) ? norm : INFINITY;
}

/* The factor that makes the error of the next step about 0.9^8 of what is accepted. */
static double dop853_factor(double error) {
  return error == 0 ? 10 : fmin(10, fmax(0.2, 0.9 * pow(error, -1.0 / 8)));
}

static double rms(const NsDop853 *rk, const double *v, const double *minus) {
  double sum = 0;
  for (int i = 0; i < rk->problem.n; i++) {
    double s = dop853_scale(rk, i, rk->y_old[i], 0), d = v[i] - (minus ? minus[i] : 0);
    if (s == 0) s = DBL_MIN;
    sum += d / s * (d / s);
  }
  return rk->problem.n > 0 ? sqrt(sum / rk->problem.n) : 0;
}

/* The first length: an explicit Euler step tells the size of the second derivative. K[0] is known. */
static NsStatus dop853_first_length(NsDop853 *rk, double *length, NsError *err) {
  double way = fabs(rk->t_end - rk->state.t), sign = rk->t_end < rk->state.t ? -1 : 1;
  double d0 = rms(rk, rk->y_old, NULL), d1 = rms(rk, rk->K[0], NULL);
  double h0 = fmin(way, d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1);
  for (int i = 0; i < rk->problem.n; i++) rk->trial[i] = rk->y_old[i] + sign * h0 * rk->K[0][i];
  NsStatus status = dop853_rate(rk, rk->state.t + sign * h0, rk->trial, rk->K[1], err);
  *length = fmin(way, h0);
  if (status == NS_ERETRY || status == NS_ENAN) return NS_OK;
  double d2 = rms(rk, rk->K[1], rk->K[0]) / h0, most = fmax(d1, d2);
  double h1 = most <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / most, 1.0 / 8);
  *length = fmin(way, fmin(100 * h0, h1));
  return status;
}

static bool dop853_worth_shortening(NsStatus status) {
  return status == NS_ERETRY || status == NS_ENAN;
}

/* Tries lengths until one is accepted: the step is then in trial and K. */
static NsStatus dop853_try_lengths(NsDop853 *rk, double h, double *taken, NsError *err) {
  double t = rk->state.t, sign = rk->t_end < t ? -1 : 1;
  double least = 10 * DBL_EPSILON * fmax(fabs(t), DBL_MIN / DBL_EPSILON);
  bool rejected = false;
  h = fmax(h, least);
  for (;; rejected = true, rk->state.rejected++) {
    bool last = h >= fabs(rk->t_end - t);
    if (last) h = fabs(rk->t_end - t);
    NsStatus status = dop853_take_stages(rk, sign * h, err);
    if (status != NS_OK && !dop853_worth_shortening(status)) return status;
    double error = status == NS_OK ? dop853_error_norm(rk, sign * h) : INFINITY;
    if (error <= 1) {
      *taken = sign * h;
      double next = h * (rejected ? fmin(1, dop853_factor(error)) : dop853_factor(error));
      rk->state.h_next = last && rk->state.h_next > next ? rk->state.h_next : next;
      return NS_OK;
    }
    h *= status == NS_OK ? dop853_factor(error) : 0.2;
    if (h < least && status == NS_OK)
      return ns_fail(err, NS_ENOCONV, "the step length falls under %.3g, too small to go on (t=%.10g)", least, t);
    if (h < least) return status == NS_ERETRY ? NS_ECALLBACK : status;
  }
}

/* Swaps two blocks. */
static void dop853_swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

static void dop853_accept(NsDop853 *rk, double t) {
  dop853_swap(&rk->y, &rk->trial);
  rk->state.y = rk->y;
  rk->state.t = t;
  rk->end_known = true;
}

/* y_old and K[0] for a step that starts at t, leaving the end of the last one untouched. */
static NsStatus prepare_start(NsDop853 *rk, NsError *err) {
  memcpy(rk->y_old, rk->y, (size_t)rk->problem.n * sizeof *rk->y);
  rk->state.t_old = rk->state.t;
  if (rk->end_known) {
    dop853_swap(&rk->K[0], &rk->K[STAGES]);
    rk->end_known = false;
    return NS_OK;
  }
  return dop853_rate(rk, rk->state.t, rk->y_old, rk->K[0], err);
}

NsStatus ns_dop853_step(NsDop853 *rk, NsError *err) {
  double taken = 0, h = rk->state.h_next;
  NsStatus status = prepare_start(rk, err);
  if (status == NS_OK && h == 0) status = dop853_first_length(rk, &h, err);
  if (status != NS_OK) return status;
  h = fmin(h, rk->h_limit);
  rk->h_limit = INFINITY;
  status = dop853_try_lengths(rk, h, &taken, err);
  if (status != NS_OK) return status;
  bool last = fabs(taken) >= fabs(rk->t_end - rk->state.t_old);
  dop853_accept(rk, last ? rk->t_end : rk->state.t_old + taken);
  rk->state.steps++;
  return NS_OK;
}

NsStatus ns_dop853_retake(NsDop853 *rk, double t_new, NsError *err) {
  NsStatus status = dop853_take_stages(rk, t_new - rk->state.t_old, err);
  if (status == NS_OK) dop853_accept(rk, t_new);
  return status;
}

/* ---- dense output ---- */

NsStatus ns_dop853_interpolate(NsDop853 *rk, NsError *err) {
  int n = rk->problem.n;
  double h = rk->state.t - rk->state.t_old;
  for (int s = STAGES + 1; s < ALL_STAGES; s++) {
    NsStatus status = take_stage(rk, s, h, rk->sum, err);
    if (status != NS_OK) return status;
  }
  for (int i = 0; i < n; i++) {
    double dy = rk->y[i] - rk->y_old[i], slope = h * rk->K[0][i];
    rk->F[0][i] = dy;
    rk->F[1][i] = slope - dy;
    rk->F[2][i] = 2 * dy - (slope + h * rk->K[STAGES][i]);
  }
  for (int d = 0; d < DENSE_ROWS; d++) {
    dop853_combine(rk, &dense_rows[d], rk->F[3 + d]);
    for (int i = 0; i < n; i++) rk->F[3 + d][i] *= h;
  }
  return NS_OK;
}

void ns_dop853_at(const NsDop853 *rk, double t, double *y) {
  double x = (t - rk->state.t_old) / (rk->state.t - rk->state.t_old);
  for (int i = 0; i < rk->problem.n; i++) {
    double sum = 0;
    for (int f = DENSE - 1; f >= 0; f--) sum = (sum + rk->F[f][i]) * (f % 2 == 0 ? x : 1 - x);
    y[i] = rk->y_old[i] + sum;
  }
}

const double *ns_dop853_row(const NsDop853 *rk, int row) {
  return rk->F[row];
}
