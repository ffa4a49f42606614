/*
** mechanics.c
** Native callbacks of a mechanical system for spec/model/mechanical_quantity_spec.lua.
*/
#include <math.h>

typedef const double *In;

void bar_mass(unsigned n, In q, double *mass, unsigned nz, double *z) {
  (void)nz, (void)z;
  mass[0] = 2 + q[1] * q[1];
  mass[n + 1] = 1;
}

void bar_fint(double t, unsigned n, In q, In v, double *f, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  f[0] = t * sin(q[0]) + v[1];
  f[1] = q[0] * v[1];
}

void bar_fint_q(double t, unsigned n, In q, In v, double *J, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  J[0] = t * cos(q[0]);
  J[1] = v[1];
}

void bar_fint_v(double t, unsigned n, In q, In v, double *J, unsigned nz, double *z) {
  (void)t, (void)v, (void)nz, (void)z;
  J[n] = 1; /* row 1, column 2 */
  J[n + 1] = q[0];
}

void bar_fgyr(unsigned n, In q, In v, double *f, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  f[0] = q[1] * v[0] * v[0];
}

void bar_fgyr_q(unsigned n, In q, In v, double *J, unsigned nz, double *z) {
  (void)q, (void)nz, (void)z;
  J[n] = v[0] * v[0];
}

void bar_fgyr_v(unsigned n, In q, In v, double *J, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  J[0] = 2 * q[1] * v[0];
}

void bar_fext(double t, unsigned n, double *f, unsigned nz, double *z) {
  (void)n, (void)nz, (void)z;
  f[0] = t;
  f[1] = 2 * t;
}

void bar_potential(unsigned n, In q, double *energy, unsigned nz, double *z) {
  (void)n, (void)nz;
  energy[0] = z[0] * q[0];
}

/* Of a rigid body: a moment of the time, one of the state, and its Jacobians (3 x 7, 3 x 6). */
void body_mext(double t, double *m, unsigned nz, double *z) {
  m[0] = t;
  m[2] = nz == 1 ? z[0] : 0;
}

void body_mint(double t, double *q, double *v, double *m, unsigned nz, double *z) {
  m[0] = t * q[4] * q[4];
  m[1] = nz == 1 ? z[0] * v[3] * v[5] : 0;
  m[2] = q[6];
}

void body_mint_q(double t, double *q, double *v, double *J, unsigned nz, double *z) {
  (void)v, (void)nz, (void)z;
  J[0 + 3 * 4] = 2 * t * q[4];
  J[2 + 3 * 6] = 1;
}

void body_mint_v(double t, double *q, double *v, double *J, unsigned nz, double *z) {
  (void)t, (void)q, (void)nz;
  J[1 + 3 * 3] = z[0] * v[5];
  J[1 + 3 * 5] = z[0] * v[3];
}
