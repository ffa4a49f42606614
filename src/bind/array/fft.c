/*
** fft.c
** Fourier transforms of vectors; a complex vector is two vectors, its real and its imaginary part.
*/
#include "bind/lua/open.h"

#include <limits.h>

#include "bind/array/vector.h"
#include "linalg/fft.h"

/* Pushes a copy of the vector at idx (nil: zeros), with n numbers; n < 0: as many as it has. */
static NslVector *fft_copy(lua_State *L, int idx, int n, const char *who, const char *what) {
  if (lua_isnoneornil(L, idx) && n >= 0) return nsl_push_vector(L, n, NULL);
  NslVector *v = nsl_to_vector(L, idx, n, who, what);
  if (v->n == 0) luaL_error(L, "%s: %s: expected at least one number, got none", who, what);
  return nsl_push_vector_copy(L, v);
}

static void fft_run(lua_State *L, const char *who, NslVector *re, NslVector *im, bool backward) {
  nsl_check_status(L, ns_fft(re->n, re->data, im->data, backward), who);
}

/* fft(re [, im]), ifft(re [, im]). */
static int fft_transform(lua_State *L) {
  bool backward = nsl_which(L);
  const char *who = backward ? "ifft" : "fft";
  lua_settop(L, 2);
  NslVector *re = fft_copy(L, 1, -1, who, "re"), *im = fft_copy(L, 2, re->n, who, "im");
  fft_run(L, who, re, im, backward);
  return 2;
}

/* rfft(x): the first n // 2 + 1 numbers; the others are their conjugates. */
static int fft_rfft(lua_State *L) {
  lua_settop(L, 1);
  NslVector *re = fft_copy(L, 1, -1, "rfft", "x"), *im = nsl_push_vector(L, re->n, NULL);
  fft_run(L, "rfft", re, im, false);
  int count = re->n / 2 + 1;
  NslVector *first = nsl_push_vector(L, count, NULL), *second = nsl_push_vector(L, count, NULL);
  for (int k = 0; k < count; k++) first->data[k] = re->data[k], second->data[k] = im->data[k];
  return 2;
}

/* irfft(re, im [, n]): the n real numbers (2 (#re - 1) when it is not given) that rfft transforms to re, im. */
static int fft_irfft(lua_State *L) {
  lua_settop(L, 3);
  NslVector *first = fft_copy(L, 1, -1, "irfft", "re"), *second = fft_copy(L, 2, first->n, "irfft", "im");
  lua_Integer n = lua_isnil(L, 3) ? 2 * ((lua_Integer)first->n - 1) : nsl_integer(L, 3, "irfft", "n");
  if (n < 1 || n / 2 + 1 != first->n)
    return luaL_error(L, "irfft: n: expected %d or %d for %d numbers, got %I", 2 * first->n - 2, 2 * first->n - 1, first->n, n);
  NslVector *re = nsl_push_vector(L, n, NULL), *im = nsl_push_vector(L, n, NULL);
  ns_fft_mirror((int)n, first->data, second->data, re->data, im->data);
  fft_run(L, "irfft", re, im, true);
  lua_pop(L, 1);
  return 1;
}

/* fftfreq(n [, d]), rfftfreq(n [, d]): the frequencies k / (n d) in the order of the transform. */
static int fft_frequencies(lua_State *L) {
  bool half = nsl_which(L);
  const char *who = half ? "rfftfreq" : "fftfreq";
  lua_Integer n = nsl_integer(L, 1, who, "n");
  double d = lua_isnoneornil(L, 2) ? 1 : nsl_finite(L, 2, who, "d");
  if (n < 1 || n > INT_MAX) return luaL_error(L, "%s: n: expected 1 or more, got %I", who, n);
  if (!(d > 0)) return nsl_error(L, "%s: d: expected a number above 0, got %f", who, d);
  int count = half ? (int)n / 2 + 1 : (int)n;
  double *f = nsl_push_vector(L, count, NULL)->data;
  for (int k = 0; k < count; k++) f[k] = ns_fft_frequency((int)n, k, d, half);
  return 1;
}

void nsl_open_fft(lua_State *L) {
  static const NslVariant functions[] = {
      {"fft", fft_transform, 0},       {"ifft", fft_transform, 1},       {"rfft", fft_rfft, 0}, {"irfft", fft_irfft, 0},
      {"fftfreq", fft_frequencies, 0}, {"rfftfreq", fft_frequencies, 1}, {NULL, NULL, 0}};
  nsl_set_variants(L, functions);
}
