/*
** fft.c
** Mixed-radix transforms by recursion, and Bluestein's transform for large prime factors.
*/
#include "linalg/fft.h"

#include <math.h>
#include <stddef.h>

#include "base/arena.h"

/* largest prime factor that the mixed radix takes: a butterfly of p costs p^2, more than Bluestein's transform from here on */
enum { FFT_LARGEST = 31 };

typedef struct FftComplex {
  double re, im;
} FftComplex;

static FftComplex fft_times(FftComplex a, FftComplex b) {
  return (FftComplex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i k / n), 0 <= k < n, from an angle of at most pi / 4. */
static FftComplex fft_root(long long k, long long n) {
  static const double pi = 3.14159265358979323846;
  bool below = 2 * k > n;
  if (below) k = n - k;
  bool left = 4 * k > n;
  if (left) k = n - 2 * k; /* in half units from here on: the angle is pi k / n */
  else k = 2 * k;
  bool steep = 4 * k > n;
  double angle = pi * (double)(steep ? n - 2 * k : 2 * k) / (double)(2 * n);
  double c = steep ? sin(angle) : cos(angle), s = steep ? cos(angle) : sin(angle);
  return (FftComplex){left ? -c : c, below ? s : -s};
}

static int fft_factor(int n) {
  if (n % 4 == 0) return 4;
  for (int p = 2; p <= FFT_LARGEST && p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

/* table: the roots of order `order`, of which n is a divisor; in: every stride-th number. */
static void fft_mixed(int n, const FftComplex *in, int stride, FftComplex *out, const FftComplex *table, int order) {
  if (n == 1) {
    *out = *in;
    return;
  }
  int p = fft_factor(n), m = n / p, step = order / n, turn = order / p;
  FftComplex t[FFT_LARGEST];
  for (int q = 0; q < p; q++) fft_mixed(m, in + (ptrdiff_t)q * stride, stride * p, out + (ptrdiff_t)q * m, table, order);
  for (int k = 0; k < m; k++) {
    t[0] = out[k];
    for (int q = 1; q < p; q++) t[q] = fft_times(out[k + (ptrdiff_t)q * m], table[(ptrdiff_t)q * k * step]);
    if (p == 2) {
      out[k] = (FftComplex){t[0].re + t[1].re, t[0].im + t[1].im};
      out[k + m] = (FftComplex){t[0].re - t[1].re, t[0].im - t[1].im};
    } else if (p == 4) {
      FftComplex a = {t[0].re + t[2].re, t[0].im + t[2].im}, b = {t[0].re - t[2].re, t[0].im - t[2].im};
      FftComplex c = {t[1].re + t[3].re, t[1].im + t[3].im}, d = {t[1].im - t[3].im, t[3].re - t[1].re};
      out[k] = (FftComplex){a.re + c.re, a.im + c.im};
      out[k + m] = (FftComplex){b.re + d.re, b.im + d.im};
      out[k + 2 * (ptrdiff_t)m] = (FftComplex){a.re - c.re, a.im - c.im};
      out[k + 3 * (ptrdiff_t)m] = (FftComplex){b.re - d.re, b.im - d.im};
    } else {
      for (int r = 0; r < p; r++) {
        FftComplex sum = t[0];
        for (int q = 1; q < p; q++) {
          FftComplex term = fft_times(t[q], table[(ptrdiff_t)(q * r % p) * turn]);
          sum.re += term.re;
          sum.im += term.im;
        }
        out[k + (ptrdiff_t)r * m] = sum;
      }
    }
  }
}

static FftComplex *fft_numbers(NsArena *arena, int n) {
  return ns_arena_take(arena, (size_t)n, sizeof(FftComplex));
}

static FftComplex *fft_roots(NsArena *arena, int n) {
  FftComplex *table = fft_numbers(arena, n);
  for (int k = 0; k < n && table; k++) table[k] = fft_root(k, n);
  return table;
}

/*
** Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2 makes the sum a convolution with c_j = exp(pi i j^2 / n), which transforms of a
** power of two compute.
*/
static void fft_chirp(int n, const FftComplex *in, FftComplex *out, NsArena *arena) {
  int size = 1;
  while (size < 2 * n - 1) size *= 2;
  FftComplex *chirp = fft_numbers(arena, n), *a = fft_numbers(arena, size), *b = fft_numbers(arena, size);
  FftComplex *fa = fft_numbers(arena, size), *fb = fft_numbers(arena, size), *table = fft_roots(arena, size);
  if (arena->failed) return;
  for (long long j = 0; j < n; j++) {
    chirp[j] = fft_root(j * j % (2LL * n), 2LL * n);
    a[j] = fft_times(in[j], chirp[j]);
    b[j] = b[(size - j) % size] = (FftComplex){chirp[j].re, -chirp[j].im};
  }
  fft_mixed(size, a, 1, fa, table, size);
  fft_mixed(size, b, 1, fb, table, size);
  for (int k = 0; k < size; k++) {
    fa[k] = fft_times(fa[k], fb[k]);
    fa[k].im = -fa[k].im;
  }
  fft_mixed(size, fa, 1, a, table, size); /* the conjugate of `size` times the convolution */
  for (int k = 0; k < n; k++) out[k] = fft_times((FftComplex){a[k].re / size, -a[k].im / size}, chirp[k]);
}

NsStatus ns_fft(int n, double *re, double *im, bool backward) {
  int left = n;
  if (n < 2) return NS_OK;
  if (n > 1 << 28) return NS_ETOOLARGE;
  for (int p = 2; p <= FFT_LARGEST; p++)
    while (left % p == 0) left /= p;
  NsArena arena = {0};
  FftComplex *in = fft_numbers(&arena, n), *out = fft_numbers(&arena, n), *table = left == 1 ? fft_roots(&arena, n) : NULL;
  for (int k = 0; k < n && !arena.failed; k++) in[k] = (FftComplex){re[k], backward ? 0 - im[k] : im[k]};
  if (!arena.failed && left == 1) fft_mixed(n, in, 1, out, table, n);
  else if (!arena.failed) fft_chirp(n, in, out, &arena);
  for (int k = 0; k < n && !arena.failed; k++) {
    re[k] = backward ? out[k].re / n : out[k].re;
    im[k] = backward ? (0 - out[k].im) / n : out[k].im;
  }
  NsStatus status = arena.failed ? NS_ENOMEM : NS_OK;
  ns_arena_release(&arena);
  return status;
}

void ns_fft_mirror(int n, const double *half_re, const double *half_im, double *re, double *im) {
  for (int k = 0; k <= n / 2; k++) {
    bool alone = k == 0 || k == n - k; /* these are real */
    int mirror = k == 0 ? 0 : n - k;
    re[k] = re[mirror] = half_re[k];
    im[k] = alone ? 0 : half_im[k];
    if (!alone) im[mirror] = -half_im[k];
  }
}

double ns_fft_frequency(int n, int k, double d, bool half) {
  return (double)(half || k < n / 2 + n % 2 ? k : k - n) / ((double)n * d);
}
