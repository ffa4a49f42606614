/*
** relations.c
** Native callbacks of mechanical relations for spec/model/relation_bias_spec.lua.
*/
#include <math.h>

typedef const double *In;

/* A length that is to be cos(t): h = x^2 + y^2 - cos(t), with all of its derivatives. */
void rod(unsigned n, In q, double t, unsigned m, double *y, unsigned nz, double *z) {
  (void)n, (void)m, (void)nz, (void)z;
  y[0] = q[0] * q[0] + q[1] * q[1] - cos(t);
}

void rod_q(unsigned n, In q, double t, unsigned m, double *C, unsigned nz, double *z) {
  (void)n, (void)t, (void)m, (void)nz, (void)z;
  C[0] = 2 * q[0];
  C[1] = 2 * q[1];
}

void rod_dot(unsigned n, In q, double t, unsigned m, double *rate, unsigned nz, double *z) {
  (void)n, (void)q, (void)m, (void)nz, (void)z;
  rate[0] = sin(t);
}

void rod_dot_q(unsigned n, In q, unsigned ndot, In qdot, double t, double *dot, unsigned nz, double *z) {
  (void)q, (void)t, (void)nz, (void)z;
  if (n != 2 || ndot != 2) return;
  dot[0] = 2 * qdot[0];
  dot[1] = 2 * qdot[1];
}

/* y = x^3 y, of no time. */
void cubic(unsigned n, In q, unsigned m, double *y, unsigned nz, double *z) {
  (void)n, (void)m, (void)nz, (void)z;
  y[0] = q[0] * q[0] * q[0] * q[1];
}

void cubic_q(unsigned n, In q, unsigned m, double *C, unsigned nz, double *z) {
  (void)n, (void)m, (void)nz, (void)z;
  C[0] = 3 * q[0] * q[0] * q[1];
  C[1] = q[0] * q[0] * q[0];
}

void cubic_dot_q(unsigned n, In q, unsigned ndot, In qdot, double *dot, unsigned nz, double *z) {
  (void)nz, (void)z;
  if (n != 2 || ndot != 2) return;
  dot[0] = 6 * q[0] * q[1] * qdot[0] + 3 * q[0] * q[0] * qdot[1];
  dot[1] = 3 * q[0] * q[0] * qdot[0];
}
