/*
** accumulation.c
** Cycles of events that shrink.
*/
#include "integrators/accumulation.h"

#include <math.h>
#include <string.h>

enum { CYCLES = 3 }; /* number of equal cycles of events that make an accumulation */

/* Each cycle of an accumulation is shorter than the one before by at least this factor. */
static const double SHRINKS = 0.95;

void ns_event_marks_add(NsEventMarks *marks, double t, int row, bool output) {
  if (marks->count == NS_EVENT_MARKS) {
    marks->count--;
    memmove(marks->mark, marks->mark + 1, (size_t)marks->count * sizeof *marks->mark);
  }
  marks->mark[marks->count++] = (NsEventMark){t, row, output};
}

/* Whether the last CYCLES * c events are CYCLES cycles of the same rows, each shorter than the one before. */
static bool cycles_shrink(const NsEventMarks *marks, int c) {
  const NsEventMark *end = marks->mark + marks->count;
  for (int i = 1; i <= (CYCLES - 1) * c; i++)
    if (end[-i].row != end[-i - c].row) return false;
  double length = INFINITY;
  for (int k = CYCLES - 1; k >= 0; k--) {
    double next = end[-1 - k * c].t - end[-1 - (k + 1) * c].t;
    if (!(next < SHRINKS * length)) return false;
    length = next;
  }
  return length > 0;
}

bool ns_event_marks_accumulate(const NsEventMarks *marks, double *rest, int *cycle) {
  const NsEventMark *end = marks->mark + marks->count;
  for (int c = 1; CYCLES * c + 1 <= marks->count; c++) {
    if (!cycles_shrink(marks, c)) continue;
    double last = end[-1].t - end[-1 - c].t, before = end[-1 - c].t - end[-1 - 2 * c].t, ratio = last / before;
    *rest = last * ratio / (1 - ratio);
    *cycle = c;
    return true;
  }
  return false;
}

bool ns_event_marks_have(const NsEventMarks *marks, int cycle, int row, bool *output) {
  bool found = false;
  *output = false;
  for (int k = 1; k <= cycle; k++) {
    const NsEventMark *mark = &marks->mark[marks->count - k];
    if (mark->row == row) found = true, *output = *output || mark->output;
  }
  return found;
}
