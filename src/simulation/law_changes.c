/*
** law_changes.c
** Comparison of the state of laws before and after actions, one field after the other.
*/
#include "simulation/law_changes.h"

#include <string.h>

/* A walk over the laws; at: of the present field in the copies. */
typedef struct LawFields {
  const NsLawChanges *changes;
  size_t at;
} LawFields;

static void law_field_ended(void *context, const char *name, void *data, size_t bytes) {
  LawFields *f = context;
  const NsLawChanges *c = f->changes;
  char *now = c->now.bytes + f->at, *before = c->before.bytes + f->at, *left = c->left.bytes + f->at;
  (void)name;
  f->at += bytes;
  if (bytes == 0 || memcmp(now, data, bytes) == 0) return;
  if (memcmp(before, left, bytes) == 0) memcpy(before, now, bytes);
  memcpy(left, data, bytes);
}

static void law_field_undone(void *context, const char *name, void *data, size_t bytes) {
  LawFields *f = context;
  const char *before = f->changes->before.bytes + f->at, *left = f->changes->left.bytes + f->at;
  (void)name;
  f->at += bytes;
  if (bytes > 0 && memcmp(before, left, bytes) != 0 && memcmp(data, left, bytes) == 0) memcpy(data, before, bytes);
}

static void law_field_measured(void *context, const char *name, void *data, size_t bytes) {
  (void)name, (void)data;
  *(size_t *)context += bytes;
}

/* Whether the copies belong to the present laws. */
static bool law_changes_fit(const NsLawChanges *changes, NsNsds *nsds) {
  size_t size = 0;
  ns_nsds_visit_laws(nsds, law_field_measured, &size);
  return changes->before.size == size && changes->now.size == size;
}

NsStatus ns_law_changes_begin(NsLawChanges *changes, NsNsds *nsds) {
  NsSnapshot *copies[] = {&changes->now, &changes->before, &changes->left};
  bool known = law_changes_fit(changes, nsds);
  for (int i = 0; i < (known ? 1 : 3); i++) {
    NsStatus status = known ? NS_OK : ns_snapshot_reserve(copies[i], ns_nsds_visit_laws, nsds);
    if (status != NS_OK) return status;
    ns_snapshot_save(copies[i], ns_nsds_visit_laws, nsds);
  }
  return NS_OK;
}

void ns_law_changes_end(NsLawChanges *changes, NsNsds *nsds) {
  if (law_changes_fit(changes, nsds)) ns_nsds_visit_laws(nsds, law_field_ended, &(LawFields){changes, 0});
}

void ns_law_changes_undo(NsLawChanges *changes, NsNsds *nsds) {
  if (law_changes_fit(changes, nsds)) ns_nsds_visit_laws(nsds, law_field_undone, &(LawFields){changes, 0});
  ns_law_changes_clear(changes);
}

void ns_law_changes_clear(NsLawChanges *changes) {
  NsSnapshot *copies[] = {&changes->now, &changes->before, &changes->left};
  for (int i = 0; i < 3; i++) ns_snapshot_free(copies[i]);
}
