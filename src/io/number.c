/*
** number.c
** Exact decimal digits by 128-bit integers where these suffice, otherwise by the C library.
*/
#include "io/number.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

__extension__ typedef unsigned __int128 uint128;

enum { MAX_POWER = 27 }; /* 5^27 < 2^63, so that 2^53 5^27 fits */

/*
** x 10^power = numerator / 2^shift exactly, between 10^16 and 10^17: 17 digits before the point.
** spacing / 2^shift is one unit in the last place of x on the same scale.
*/
typedef struct Scaled {
  uint128 numerator, spacing;
  int shift, power;
  bool even;         /* the significand is even: a tie reads back as x */
  bool power_of_two; /* the neighbour below is at half the distance */
} Scaled;

static const uint64_t ten16 = UINT64_C(10000000000000000);

static uint64_t five_to(int n) {
  uint64_t power = 1;
  for (uint64_t base = 5; n > 0; n >>= 1, base *= base)
    if (n & 1) power *= base;
  return power;
}

/* Scales m 2^e by 10^power. */
static Scaled scale_by(uint64_t m, int e, int power) {
  Scaled s = {.power = power, .shift = -(e + power), .even = m % 2 == 0};
  s.power_of_two = m == UINT64_C(1) << 52;
  s.spacing = five_to(power);
  s.numerator = s.spacing * m;
  if (s.shift < 0) {
    s.numerator <<= -s.shift;
    s.spacing <<= -s.shift;
    s.shift = 0;
  }
  return s;
}

/* Scales a normal x > 0; false when it is too large or too small for 128 bits. */
static bool number_scale(double x, Scaled *s) {
  int e;
  uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
  int power = 16 - (int)floor((e - 1) * 0.30102999566398120);
  if (power < 0 || power > MAX_POWER) return false;
  *s = scale_by(m, e - 53, power);
  if (s->numerator >> s->shift >= 10 * (uint128)ten16) {
    if (power == 0) return false;
    *s = scale_by(m, e - 53, power - 1);
  }
  return true;
}

/* The quotient numerator / (2^shift unit), unit 1, 10 or 100, rounded to nearest, ties to even. */
static uint64_t round_to(const Scaled *s, unsigned unit) {
  uint64_t whole = (uint64_t)(s->numerator >> s->shift), quotient = whole / unit;
  uint128 rest = s->numerator - (((uint128)quotient * unit) << s->shift);
  uint128 twice = 2 * rest, full = (uint128)unit << s->shift;
  bool up = twice > full || (twice == full && quotient % 2 == 1);
  return quotient + up;
}

/* Whether digits * unit / 10^power is nearer to x than to any other double. */
static bool reads_back(const Scaled *s, uint64_t digits, unsigned unit) {
  uint128 candidate = ((uint128)digits * unit) << s->shift;
  bool below = candidate < s->numerator;
  uint128 distance = below ? s->numerator - candidate : candidate - s->numerator;
  uint128 reach = 2 * distance;
  if (below && s->power_of_two) reach *= 2;
  return reach < s->spacing || (reach == s->spacing && s->even);
}

static char *put_integer(char *out, uint64_t n) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + n % 10);
  while (n /= 10);
  while (count > 0) *out++ = digits[--count];
  return out;
}

static char *put_exponent(char *out, int exponent) {
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  exponent = abs(exponent);
  if (exponent < 10) *out++ = '0';
  return put_integer(out, (uint64_t)exponent);
}

/* Writes digits 10^-power as %.<precision>g does. */
static char *put_decimal(char *out, uint64_t digits, int power, int precision) {
  char text[20];
  while (digits % 10 == 0) digits /= 10, power--;
  int count = (int)(put_integer(text, digits) - text);
  int exponent = count - 1 - power;
  bool scientific = exponent < -4 || exponent >= precision;
  int before = scientific ? 1 : exponent + 1; /* digits before the point */
  if (before <= 0) {
    *out++ = '0', *out++ = '.';
    for (int i = before; i < 0; i++) *out++ = '0';
  }
  for (int i = 0; i < count; i++) {
    if (i == before && i > 0) *out++ = '.';
    *out++ = text[i];
  }
  for (int i = count; i < before; i++) *out++ = '0';
  return scientific ? put_exponent(out, exponent) : out;
}

static char *put_scaled(char *out, const Scaled *s) {
  static const unsigned units[] = {100, 10, 1};
  for (int i = 0;; i++) {
    uint64_t digits = round_to(s, units[i]);
    if (i == 2 || reads_back(s, digits, units[i])) return put_decimal(out, digits, s->power - (2 - i), 15 + i);
  }
}

/* Tries the three precisions one after the other. */
static char *put_by_trial(char *out, double x) {
  int length = 0;
  for (int precision = 15; precision <= 17; precision++) {
    length = ns_print(out, NS_NUMBER_TEXT, "%.*g", precision, x);
    if (ns_read_double(out, NULL) == x) break;
  }
  return out + length;
}

/* The 17 digits of a normal x > 0, by the C library: 10^power x rounded. */
static uint64_t library_digits(double x, int *power) {
  char text[NS_NUMBER_TEXT];
  ns_print(text, sizeof text, "%.16e", x);
  uint64_t digits = (uint64_t)(text[0] - '0');
  for (int i = 2; i < 18; i++) digits = 10 * digits + (uint64_t)(text[i] - '0');
  *power = 16 - atoi(text + 19);
  return digits;
}

/*
** Writes x from its 17 rounded digits. 15 or 16 digits suffice if they differ from x by less than `half`, half a unit in the
** last place of x. If the rounding of the 17 digits leaves that open, tries the precisions.
*/
static char *put_by_library(char *out, double x) {
  int e, power;
  uint64_t digits = library_digits(x, &power);
  double fraction = frexp(x, &e), half = (double)digits / ldexp(fraction, 54), doubt = 0.51;
  if (fraction == 0.5) return put_by_trial(out, x); /* the spacing below x is different */
  for (unsigned unit = 100, precision = 15; unit > 1; unit /= 10, precision++) {
    unsigned rest = (unsigned)(digits % unit), distance = rest < unit / 2 ? rest : unit - rest;
    if (distance > half + doubt) continue;
    if (rest == unit / 2 || distance > half - doubt) return put_by_trial(out, x);
    return put_decimal(out, (digits + unit / 2) / unit, power - (precision == 15 ? 2 : 1), (int)precision);
  }
  return put_decimal(out, digits, power, 17);
}

size_t ns_number_format(char *out, double x) {
  char *at = out;
  Scaled s;
  if (isnan(x)) return memcpy(out, "nan", 3), 3;
  if (signbit(x)) *at++ = '-', x = -x;
  if (isinf(x)) at = (char *)memcpy(at, "inf", 3) + 3;
  else if (x <= 0x1p53 && x == (double)(uint64_t)x) at = put_integer(at, (uint64_t)x);
  else if (isnormal(x) && number_scale(x, &s)) at = put_scaled(at, &s);
  else at = isnormal(x) ? put_by_library(at, x) : put_by_trial(at, x);
  return (size_t)(at - out);
}

/* ---- reading ---- */

enum {
  LONGEST = 400,
  EXACT_POWER = 22
}; /* EXACT_POWER: 10^22 is exact in a double. LONGEST: bytes of a text given to strtod; a longer one is cut */

/* The parts of a decimal number. */
typedef struct Decimal {
  uint64_t digits; /* the first 19 at most */
  int count;       /* significant digits */
  int power;       /* x = digits 10^power when count <= 19 */
  bool negative;
} Decimal;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static const char *scan_digits(const char *at, const char *end, Decimal *d, int step) {
  for (; at < end && is_digit(*at); at++) {
    if (d->count < 19) d->digits = 10 * d->digits + (uint64_t)(*at - '0');
    if (d->count > 0 || *at != '0') d->count++;
    d->power += step;
  }
  return at;
}

/* Reads digits, point and exponent; false when there is anything else. */
static bool scan(const char *at, const char *end, Decimal *d) {
  const char *start = at;
  at = scan_digits(at, end, d, 0);
  int before = (int)(at - start), after = 0;
  if (at < end && *at == '.') {
    const char *point = ++at;
    at = scan_digits(at, end, d, -1);
    after = (int)(at - point);
  }
  if (before + after == 0) return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    bool negative = ++at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++) exponent = exponent < 100000 ? 10 * exponent + (*at - '0') : exponent;
    d->power += negative ? -exponent : exponent;
  }
  return at == end;
}

/* Reads a number by strtod. */
static bool parse_by_library(const char *text, size_t length, double *x) {
  char buffer[LONGEST + 1], *stop;
  if (length > LONGEST) return false;
  memcpy(buffer, text, length);
  buffer[length] = '\0';
  *x = ns_read_double(buffer, &stop);
  return stop == buffer + length;
}

/* nan, inf, infinity. */
static bool parse_name(const char *at, const char *end, double *x) {
  static const struct {
    const char *name;
    double value;
  } names[] = {{"nan", NAN}, {"inf", INFINITY}, {"infinity", INFINITY}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *name = names[i].name;
    size_t n = strlen(name), k = 0;
    if ((size_t)(end - at) != n) continue;
    while (k < n && tolower((unsigned char)at[k]) == name[k]) k++;
    if (k == n) return *x = names[i].value, true;
  }
  return false;
}

bool ns_number_parse(const char *text, size_t length, double *x) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = text, *end = text + length;
  Decimal d = {0};
  while (at < end && isspace((unsigned char)*at)) at++;
  while (end > at && isspace((unsigned char)end[-1])) end--;
  if (at < end && (*at == '-' || *at == '+')) d.negative = *at++ == '-';
  bool good = parse_name(at, end, x);
  if (!good && scan(at, end, &d)) {
    /* Both factors are exact, so their product or quotient is rounded once. */
    if (d.count <= 19 && d.digits <= UINT64_C(1) << 53 && abs(d.power) <= EXACT_POWER) {
      *x = d.power < 0 ? (double)d.digits / powers[-d.power] : (double)d.digits * powers[d.power];
      good = true;
    } else {
      good = parse_by_library(at, (size_t)(end - at), x);
    }
  }
  if (good && d.negative) *x = -*x;
  return good;
}
