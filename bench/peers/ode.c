/*
** ode.c
** Initial value problems by hand: Dormand and Prince 5(4) with the usual step control; checks and stores nothing.
** NAME RTOL: seconds of a run (the best of many), evaluations, y[0] at the end.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4 };

static void lorenz(double t, const double *y, double *f) {
  (void)t;
  f[0] = 10 * (y[1] - y[0]);
  f[1] = y[0] * (28 - y[2]) - y[1];
  f[2] = y[0] * y[1] - 8.0 / 3 * y[2];
}

static void pendulum(double t, const double *y, double *f) {
  double d = y[0] - y[1], c = cos(d), s = sin(d), det = 2 - c * c;
  double a = -s * y[3] * y[3] - 2 * 9.81 * sin(y[0]), b = s * y[2] * y[2] - 9.81 * sin(y[1]);
  (void)t;
  f[0] = y[2];
  f[1] = y[3];
  f[2] = (a - c * b) / det;
  f[3] = (2 * b - c * a) / det;
}

static void oscillator(double t, const double *y, double *f) {
  (void)t;
  f[0] = y[1];
  f[1] = 5 * (1 - y[0] * y[0]) * y[1] - y[0];
}

static void pinned(double t, const double *y, double *f) {
  double l = 1, m = 0.1, bx = -l / 2 * sin(y[0]), by = l / 2 * cos(y[0]);
  (void)t;
  f[0] = y[1];
  f[1] = -by * m * 9.81 / (m * bx * bx + m * by * by + m * l * l / 12);
}

static const struct Problem {
  const char *name;
  void (*f)(double t, const double *y, double *f);
  int n;
  double T, y0[MOST];
} problems[] = {{"lorenz", lorenz, 3, 10, {1, 1, 1}},
                {"pendulum", pendulum, 4, 5, {1, 0.5, 0, 0}},
                {"oscillator", oscillator, 2, 50, {2, 0}},
                {"pinned", pinned, 2, 4, {0, 0}}};

static double norm(int n, const double *v, const double *y, double rtol, double atol) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += pow(v[i] / (atol + rtol * fabs(y[i])), 2);
  return sqrt(sum / n);
}

static double first_step(const struct Problem *p, const double *y, const double *f, double rtol, double atol) {
  double d0 = norm(p->n, y, y, rtol, atol), d1 = norm(p->n, f, y, rtol, atol), z[MOST], g[MOST];
  double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  for (int i = 0; i < p->n; i++) z[i] = y[i] + h * f[i];
  p->f(h, z, g);
  for (int i = 0; i < p->n; i++) g[i] -= f[i];
  double d2 = norm(p->n, g, y, rtol, atol) / h, most = fmax(d1, d2);
  double second = most <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / most, 0.2);
  return fmin(100 * h, second);
}

/* One run; returns the number of evaluations. */
static int integrate(const struct Problem *p, double rtol, double atol, double *y) {
  int n = p->n, count = 2;
  double k1[MOST], k2[MOST], k3[MOST], k4[MOST], k5[MOST], k6[MOST], k7[MOST], z[MOST], e[MOST], t = 0;
  memcpy(y, p->y0, sizeof p->y0);
  p->f(t, y, k1);
  double h = first_step(p, y, k1, rtol, atol);
  int rejected = 0;
  while (t < p->T) {
    if (t + h > p->T) h = p->T - t;
    for (int i = 0; i < n; i++) z[i] = y[i] + h * (k1[i] / 5);
    p->f(t + h / 5, z, k2);
    for (int i = 0; i < n; i++) z[i] = y[i] + h * (3.0 / 40 * k1[i] + 9.0 / 40 * k2[i]);
    p->f(t + 0.3 * h, z, k3);
    for (int i = 0; i < n; i++) z[i] = y[i] + h * (44.0 / 45 * k1[i] - 56.0 / 15 * k2[i] + 32.0 / 9 * k3[i]);
    p->f(t + 0.8 * h, z, k4);
    for (int i = 0; i < n; i++)
      z[i] = y[i] + h * (19372.0 / 6561 * k1[i] - 25360.0 / 2187 * k2[i] + 64448.0 / 6561 * k3[i] - 212.0 / 729 * k4[i]);
    p->f(t + 8.0 / 9 * h, z, k5);
    for (int i = 0; i < n; i++)
      z[i] = y[i] + h * (9017.0 / 3168 * k1[i] - 355.0 / 33 * k2[i] + 46732.0 / 5247 * k3[i] + 49.0 / 176 * k4[i] -
                         5103.0 / 18656 * k5[i]);
    p->f(t + h, z, k6);
    for (int i = 0; i < n; i++)
      z[i] = y[i] + h * (35.0 / 384 * k1[i] + 500.0 / 1113 * k3[i] + 125.0 / 192 * k4[i] - 2187.0 / 6784 * k5[i] +
                         11.0 / 84 * k6[i]);
    p->f(t + h, z, k7);
    count += 6;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      e[i] = h * (71.0 / 57600 * k1[i] - 71.0 / 16695 * k3[i] + 71.0 / 1920 * k4[i] - 17253.0 / 339200 * k5[i] +
                  22.0 / 525 * k6[i] - k7[i] / 40);
      sum += pow(e[i] / (atol + rtol * fmax(fabs(y[i]), fabs(z[i]))), 2);
    }
    double error = sqrt(sum / n), factor = error == 0 ? 10 : 0.9 * pow(error, -0.2);
    if (error < 1) {
      t += h;
      memcpy(y, z, sizeof z);
      memcpy(k1, k7, sizeof k7);
      h *= rejected ? fmin(1, fmin(10, factor)) : fmin(10, factor);
      rejected = 0;
    } else {
      h *= fmax(0.2, factor);
      rejected = 1;
    }
  }
  return count;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  double y[MOST] = {0}, best = 1e9;
  int count = 0;
  for (size_t k = 0; argc > 2 && k < sizeof problems / sizeof *problems; k++) {
    if (strcmp(problems[k].name, argv[1]) != 0) continue;
    double rtol = atof(argv[2]);
    for (int i = 0; i < 30; i++) {
      double start = now();
      for (int j = 0; j < 20; j++) count = integrate(&problems[k], rtol, 1e-2 * rtol, y);
      best = fmin(best, (now() - start) / 20);
    }
  }
  printf("time %.9g\nnfev %d\ny %.17g\n", best, count, y[0]);
  return count == 0;
}
