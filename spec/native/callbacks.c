/*
** callbacks.c
** Native callbacks for spec/bind/native_spec.lua: one of each signature that src/bind/call/callback.h lists.
*/
#include <math.h>
#include <string.h>

typedef const double *In;

/* ---- systems ---- */

void plant_f(double t, unsigned n, In x, double *f, unsigned nz, double *z) {
  (void)t, (void)n, (void)nz, (void)z;
  f[0] = x[1];
  f[1] = -x[0] - 0.1 * x[1] * x[1] * x[1];
}

void plant_jacobian(double t, unsigned n, In x, double *J, unsigned nz, double *z) {
  (void)t, (void)nz, (void)z;
  J[n] = 1; /* row 1, column 2 */
  J[1] = -1;
  J[1 + n] = -0.3 * x[1] * x[1];
}

void plant_M(double t, unsigned n, double *M, unsigned nz, double *z) {
  (void)nz, (void)z;
  M[0] = 1;
  M[n + 1] = 1 + 0.1 * t;
}

void plant_A(double t, unsigned n, double *A, unsigned nz, double *z) {
  (void)nz, (void)z;
  A[n] = 1;
  A[1] = -1;
  A[1 + n] = -0.1 * t;
}

void plant_b(double t, unsigned n, double *b, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  b[1] = 0.1 * t;
}

/* ---- a nonlinear relation ---- */

void value_h(double t, unsigned nx, double *x, unsigned m, double *lambda, unsigned ny, double *y, unsigned nz, double *z) {
  (void)t, (void)nx, (void)m, (void)ny, (void)nz, (void)z;
  y[0] = x[1] + 0.1 * (x[0] * x[0]) + 0.01 * lambda[0];
}

void value_g(double t, unsigned nx, double *x, unsigned m, double *lambda, unsigned nr, double *r, unsigned nz, double *z) {
  (void)t, (void)nx, (void)m, (void)nr, (void)nz, (void)z;
  r[1] = -lambda[0] * (1 + 0.1 * (x[0] * x[0]));
}

void value_nan(double t, unsigned nx, double *x, unsigned m, double *lambda, unsigned nr, double *r, unsigned nz, double *z) {
  (void)t, (void)nx, (void)x, (void)m, (void)lambda, (void)nr, (void)nz, (void)z;
  r[1] = NAN;
}

void jacobian_hx(double t, unsigned nx, double *x, unsigned m, double *lambda, double *C, unsigned nz, double *z) {
  (void)t, (void)nx, (void)lambda, (void)nz, (void)z;
  C[0] = 0.2 * x[0];
  C[m] = 1;
}

void jacobian_hlambda(double t, unsigned nx, double *x, unsigned m, double *lambda, double *D, unsigned nz, double *z) {
  (void)t, (void)nx, (void)x, (void)m, (void)lambda, (void)nz, (void)z;
  D[0] = 0.01;
}

void jacobian_gx(double t, unsigned nx, double *x, unsigned m, double *lambda, double *K, unsigned nz, double *z) {
  (void)t, (void)nx, (void)m, (void)nz, (void)z;
  K[1] = -0.2 * lambda[0] * x[0];
}

void jacobian_gx_wrong(double t, unsigned nx, double *x, unsigned m, double *lambda, double *K, unsigned nz, double *z) {
  jacobian_gx(t, nx, x, m, lambda, K, nz, z);
  K[1] = 1;
}

void jacobian_glambda(double t, unsigned nx, double *x, unsigned m, double *lambda, double *B, unsigned nz, double *z) {
  (void)t, (void)nx, (void)m, (void)lambda, (void)nz, (void)z;
  B[1] = -(1 + 0.1 * (x[0] * x[0]));
}

/* ---- type 1: h(x, z), g(lambda, z) ---- */

void type1_h(unsigned nx, double *x, unsigned ny, double *y, unsigned nz, double *z) {
  (void)nx, (void)ny, (void)nz, (void)z;
  y[0] = x[1] + 0.1 * (x[0] * x[0]);
}

void type1_g(unsigned m, double *lambda, unsigned nr, double *r, unsigned nz, double *z) {
  (void)m, (void)nr, (void)nz, (void)z;
  r[1] = -lambda[0];
}

void type1_hx(unsigned nx, double *x, unsigned nC, double *C, unsigned nz, double *z) {
  (void)nx, (void)nC, (void)nz, (void)z;
  C[0] = 0.2 * x[0];
  C[1] = 1;
}

void type1_glambda(unsigned m, double *lambda, unsigned nB, double *B, unsigned nz, double *z) {
  (void)m, (void)lambda, (void)nB, (void)nz, (void)z;
  B[1] = -1;
}

/* ---- type 2: h(x, lambda), g(lambda) ---- */

void type2_h(unsigned nx, double *x, unsigned m, double *lambda, unsigned ny, double *y) {
  (void)nx, (void)m, (void)ny;
  y[0] = x[1] + 0.1 * (x[0] * x[0]) + 0.01 * lambda[0];
}

void type2_g(unsigned m, double *lambda, unsigned nr, double *r) {
  (void)m, (void)nr;
  r[1] = -lambda[0];
}

void type2_hx(unsigned nx, double *x, unsigned m, double *lambda, unsigned nC, double *C) {
  (void)nx, (void)m, (void)lambda, (void)nC;
  C[0] = 0.2 * x[0];
  C[1] = 1;
}

void type2_hlambda(unsigned nx, double *x, unsigned m, double *lambda, unsigned nD, double *D) {
  (void)nx, (void)x, (void)m, (void)lambda, (void)nD;
  D[0] = 0.01;
}

void type2_glambda(unsigned m, double *lambda, unsigned nB, double *B) {
  (void)m, (void)lambda, (void)nB;
  B[1] = -1;
}

/* ---- a linear relation of time; z = (0.5) ---- */

void linear_C(double t, unsigned rows, unsigned cols, double *C, unsigned nz, double *z) {
  (void)cols, (void)nz, (void)z;
  C[0] = 0.01 * t;
  C[rows] = 1;
}

void linear_D(double t, unsigned n, double *D, unsigned nz, double *z) {
  (void)t, (void)n, (void)nz, (void)z;
  D[0] = 0.01;
}

void linear_B(double t, unsigned rows, unsigned cols, double *B, unsigned nz, double *z) {
  (void)t, (void)rows, (void)cols, (void)nz, (void)z;
  B[1] = -1;
}

void linear_F(double t, unsigned rows, unsigned cols, double *F, unsigned nz, double *z) {
  (void)t, (void)rows, (void)cols;
  F[0] = nz == 1 ? 0.1 * z[0] : NAN;
}

void linear_e(double t, unsigned n, double *e, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  e[0] = 0.01 * t;
}
