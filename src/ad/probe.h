/*
** probe.h
** Points of trial at which a tape is compared with its function: a tape that is right there has not missed a branch.
*/
#pragma once

#include <stdbool.h>

/*
** Numbers of probes. Below ROUND: round numbers; below PROBES: numbers between these; both whatever the arguments are. AROUND:
** points near the present inputs, each input moved relative to its own size, so that units don't matter.
*/
enum { NS_PROBES_ROUND = 5, NS_PROBES = NS_PROBES_ROUND + 2, NS_PROBES_AROUND = 4 };

/* Input k at a probe; input k at a point about x. */
double ns_probe_value(int probe, int k);
double ns_probe_around(int point, int k, double x);

/* Whether a and b agree within slack; slack 0: to the last bit. */
bool ns_probe_agrees(double a, double b, double slack);

/* Two numbers as text, with enough digits to distinguish them. */
typedef struct NsProbeTexts {
  char one[32], other[32];
} NsProbeTexts;

NsProbeTexts ns_probe_texts(double a, double b);
