/*
** clutch.c
** The switching clutch by hand: implicit Euler, Newton, a 4 x 4 LU and a scalar relay; seconds of a step.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { N = 4, STEPS = 400 };

static const double A[N][N] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, -4}, {0, 1, -1, 0}};
static const double b[N] = {-1, 10, -40, 0}, E[N] = {1, 1, 1, 0};
static const double h = 0.05;
static double s;

static int factor(double a[N][N], int p[N]) {
  for (int k = 0; k < N; k++) {
    int best = k;
    for (int i = k + 1; i < N; i++)
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    p[k] = best;
    if (a[best][k] == 0) return 1;
    for (int j = 0; j < N; j++) {
      double t = a[k][j];
      a[k][j] = a[best][j], a[best][j] = t;
    }
    for (int i = k + 1; i < N; i++) {
      double m = a[i][k] /= a[k][k];
      for (int j = k + 1; j < N; j++) a[i][j] -= m * a[k][j];
    }
  }
  return 0;
}

static void solve(double a[N][N], const int p[N], double x[N]) {
  for (int k = 0; k < N; k++) {
    double t = x[k];
    x[k] = x[p[k]], x[p[k]] = t;
  }
  for (int i = 1; i < N; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i][j] * x[j];
  for (int i = N - 1; i >= 0; i--) {
    for (int j = i + 1; j < N; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

/* y = M lambda + q, -y in the normal cone of [0, 1] at lambda; at a tie the nearest to the last lambda. */
static double relay(double M, double q, double last) {
  if (M > 0) return fmin(1, fmax(0, -q / M));
  return q > 0 ? 0 : q < 0 ? 1 : last;
}

static void residual(const double x[N], const double x0[N], double lambda, double rho[N]) {
  for (int i = 0; i < N; i++) {
    rho[i] = E[i] * (x[i] - x0[i]) - h * b[i];
    for (int j = 0; j < N; j++) rho[i] -= h * A[i][j] * x[j];
  }
  rho[3] -= h * lambda * (x[3] - x[1] + x[2]);
}

static double norm(const double x[N]) {
  double m = 0;
  for (int i = 0; i < N; i++) m = fmax(m, fabs(x[i]));
  return m;
}

/* One step from x, in place; 0 when Newton has converged. */
static int step(double x[N], double *lambda) {
  double x0[N], rho[N], dx[N], d[N], W[N][N];
  int p[N];
  memcpy(x0, x, sizeof x0);
  residual(x, x0, *lambda, rho);
  for (int iteration = 0; iteration < 100; iteration++) {
    double l = *lambda, K[N] = {0, -l, l, l};
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) W[i][j] = (i == j) * E[i] - h * A[i][j] - (i == 3) * h * K[j];
    if (factor(W, p)) return 1;
    memcpy(dx, rho, sizeof dx);
    solve(W, p, dx);
    memset(d, 0, sizeof d);
    d[3] = h * (x[3] - x[1] + x[2]);
    solve(W, p, d);
    *lambda = relay(s * d[0], s * (x[0] - dx[0] - d[0] * l), l);
    for (int i = 0; i < N; i++) x[i] += d[i] * (*lambda - l) - dx[i];
    residual(x, x0, *lambda, rho);
    memcpy(dx, rho, sizeof dx);
    solve(W, p, dx);
    if (norm(dx) <= 1e-10 * fmax(norm(x), norm(x0)) + 1e-10) return 0;
  }
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  static double data[STEPS + 1][6];
  double best = INFINITY;
  s = argc > 1 && !strcmp(argv[1], "engaging") ? -1 : 1;
  for (int turn = 0; turn < 200; turn++) {
    double x[N] = {5, 10, 5, 0.5}, lambda = 0, start = now();
    for (int k = 1; k <= STEPS; k++) {
      if (step(x, &lambda)) return 1;
      data[k][0] = k * h;
      memcpy(data[k] + 1, x, sizeof x);
      data[k][5] = lambda;
    }
    best = fmin(best, (now() - start) / STEPS);
  }
  printf("loop %.9g\n", best);
  printf("last %.17g %.17g %.17g %.17g\n", data[STEPS][1], data[STEPS][2], data[STEPS][3], data[STEPS][4]);
  return 0;
}
