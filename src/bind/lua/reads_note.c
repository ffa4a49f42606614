/*
** reads_note.c
** Notes the reads of watched numbers.
*/
#include "bind/lua/reads.h"

bool nsl_read_within(const double *number, const double *first, ptrdiff_t n, ptrdiff_t stride) {
  if (n <= 0) return false; /* first may be NULL */
  const double *last = first + (n - 1) * stride;
  return stride > 0 ? number >= first && number <= last : number >= last && number <= first;
}

void nsl_note_numbers(const NslHead *view, const double *numbers, ptrdiff_t n, ptrdiff_t stride) {
  const NslHead *root = view->owner ? view->owner : view;
  const NslReads *reads = root->reads;
  for (int k = 0; reads && k < reads->count; k++) {
    if (!nsl_read_within(reads->number[k].number, numbers, n, stride)) continue;
    if (!reads->number[k].initial || reads->host->running) *reads->number[k].flag = true;
    reads->host->asides++;
  }
}

void nsl_note_object(const NslHead *object) {
  const NslReads *reads = object->reads;
  for (int k = 0; reads && reads->host->running && k < reads->count; k++)
    if (reads->number[k].of == object) *reads->number[k].flag = true, reads->host->asides++;
}
