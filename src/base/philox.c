/*
** philox.c
** Random numbers: Philox4x32-10, and the normal distribution.
*/
#include "base/philox.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

enum { ROUNDS = 10 };

static uint32_t high_word(uint64_t x) {
  return (uint32_t)(x >> 32);
}

/* The block of four numbers for a counter (4) and a key (2). */
static void philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4]) {
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < ROUNDS; round++, k0 += UINT32_C(0x9E3779B9), k1 += UINT32_C(0xBB67AE85)) {
    uint64_t p = UINT64_C(0xD2511F53) * a, q = UINT64_C(0xCD9E8D57) * c;
    a = high_word(q) ^ b ^ k0;
    b = (uint32_t)q;
    c = high_word(p) ^ d ^ k1;
    d = (uint32_t)p;
  }
  block[0] = a, block[1] = b, block[2] = c, block[3] = d;
}

/* The next word of the sequence. */
static uint64_t philox_word(NsPhilox *p) {
  uint64_t number = p->draw / 2, half = p->draw % 2 * 2;
  uint32_t counter[4] = {(uint32_t)number, high_word(number), (uint32_t)p->stream, high_word(p->stream)};
  uint32_t key[2] = {(uint32_t)p->seed, high_word(p->seed)}, block[4];
  philox_block(counter, key, block);
  p->draw++;
  return (uint64_t)block[half + 1] << 32 | block[half];
}

/* ---- distributions ---- */

double ns_philox_uniform(NsPhilox *p) {
  return (double)(philox_word(p) >> 11) * 0x1p-53;
}

/* Words from the largest multiple of `count` on are left out: the rest of a division by count is then fair. */
int64_t ns_philox_integer(NsPhilox *p, int64_t least, int64_t most) {
  uint64_t count = (uint64_t)most - (uint64_t)least + 1, word = philox_word(p);
  if (count == 0) return (int64_t)((uint64_t)least + word);
  uint64_t fair = UINT64_MAX - (UINT64_MAX % count + 1) % count;
  while (word > fair) word = philox_word(p);
  return (int64_t)((uint64_t)least + word % count);
}

/* Coefficients of a polynomial, the highest power first. */
static double quantile_polynomial(const double a[8], double x) {
  double sum = a[0];
  for (int i = 1; i < 8; i++) sum = sum * x + a[i];
  return sum;
}

/* The quotients of AS 241: near the middle, and for r = sqrt(-log u) up to 5 and above. */
static const double middle[2][8] = {
    {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0},
    {5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1},
};
static const double tail[2][8] = {
    {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0},
    {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1},
};
static const double far_tail[2][8] = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0},
    {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1},
};

static double quantile_quotient(const double a[2][8], double x) {
  return quantile_polynomial(a[0], x) / quantile_polynomial(a[1], x);
}

/* log x by the series of 2 atanh s, s = (m - 1) / (m + 1), x = m 2^e: |s| <= 0.172, so 12 terms reach rounding. */
static double portable_log(double x) {
  int e;
  double m = frexp(x, &e), sum = 0;
  if (m < 0.70710678118654752440) m *= 2, e--;
  double s = (m - 1) / (m + 1), square = s * s;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return e * 0.69314718055994530942 + 2 * s * sum;
}

double ns_normal_quantile(double u) {
  double q = u - 0.5;
  if (fabs(q) <= 0.425) return q * quantile_quotient(middle, 0.180625 - q * q);
  double r = sqrt(-portable_log(q < 0 ? u : 1 - u));
  double x = r <= 5 ? quantile_quotient(tail, r - 1.6) : quantile_quotient(far_tail, r - 5);
  return q < 0 ? -x : x;
}

/* The uniform number is an odd multiple of 2^-53, so that it is neither 0 nor 1, and u and 1 - u are equally likely. */
double ns_philox_normal(NsPhilox *p) {
  return ns_normal_quantile((double)(philox_word(p) >> 12 << 1 | 1) * 0x1p-53);
}

double ns_philox_between(NsPhilox *p, double a, double b) {
  double u = ns_philox_uniform(p);
  return (1 - u) * a + u * b;
}

void ns_philox_permutation(NsPhilox *p, int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = i + 1;
  for (int i = n - 1; i > 0; i--) {
    int j = (int)ns_philox_integer(p, 0, i);
    double last = x[i];
    x[i] = x[j], x[j] = last;
  }
}

/* ---- the position as a text ---- */

void ns_philox_print(const NsPhilox *p, char text[NS_PHILOX_TEXT]) {
  snprintf(text, NS_PHILOX_TEXT, "philox4x32-10 %" PRIu64 " %" PRIu64 " %" PRIu64, p->seed, p->stream, p->draw);
}

bool ns_philox_read(const char *text, NsPhilox *p) {
  NsPhilox read;
  char again[NS_PHILOX_TEXT];
  if (sscanf(text, "philox4x32-10 %" SCNu64 " %" SCNu64 " %" SCNu64, &read.seed, &read.stream, &read.draw) != 3) return false;
  ns_philox_print(&read, again);
  if (strcmp(again, text) != 0) return false;
  *p = read;
  return true;
}
