/*
** action_changes.h
** What actions of events and clocks have changed in a model beside its states: z, coefficients, numbers of laws. A reset undoes
** it, a checkpoint and a clone keep it, and who carries the state of a run from one start to another asks for it.
*/
#pragma once

#include "model/nsds.h"

/* A copy of some bytes. */
typedef struct NsActionCopy {
  char *bytes;
  size_t size, room;
} NsActionCopy;

/*
** A field that actions may change: a number of a law, a vector z, a dense coefficient that is no function of time. now: before the
** present action; before: without what actions have changed; left: as the last action that changed it has left it.
*/
typedef struct NsActionChange {
  const NsField *field;
  void *object;
  const char *noun, *name;                 /* of the object, for messages */
  NsActionCopy now, before, left, touched; /* touched: 1 byte for each double that an action has ever changed */
  const double *source;                    /* of a coefficient, before */
  NsSource aside; /* while exchanged: of the coefficient; hidden: its numbers, where it was absent before */
  double *hidden;
  bool changed, law;
} NsActionChange;

/* A zeroed one has no changes. */
typedef struct NsActionChanges {
  NsActionChange *of;
  int count;
  uint64_t version; /* of the graph, plus 1 */
} NsActionChanges;

/* An action begins: notes all values. NS_ENOMEM. It has ended: takes down what it has changed; or it has failed: undoes that. */
NsStatus ns_action_changes_begin(NsActionChanges *changes, NsNsds *nsds);
NsStatus ns_action_changes_end(NsActionChanges *changes);
void ns_action_changes_revert(NsActionChanges *changes, NsNsds *nsds);

/* Undoes the changes, except of values that have been changed again since; then there are none. */
void ns_action_changes_undo(NsActionChanges *changes, NsNsds *nsds);
void ns_action_changes_clear(NsActionChanges *changes);

/* Makes the list for the present graph. NS_ENOMEM. */
NsStatus ns_action_changes_list(NsActionChanges *changes, NsNsds *nsds);

/* This simulation takes the changes of another one of an equal model, whose model has the present values. NS_ENOMEM. */
NsStatus ns_action_changes_copy(const NsActionChanges *from, NsActionChanges *to, NsNsds *nsds);

/* Swaps present coefficients for those before all actions, and back: a description of the model is that without actions. */
void ns_action_changes_exchange(NsActionChanges *changes);

/*
** The changes as bytes, for a checkpoint. write: calls visitor with pieces of them. read: takes them from the bytes at *at, of which
** *left are left; *bad: they are none. Coefficients get the values in the bytes; without `apply` nothing changes.
** NS_ENOMEM.
*/
void ns_action_changes_write(const NsActionChanges *changes, NsVisitor visitor, void *context);
NsStatus ns_action_changes_read(NsActionChanges *changes, NsNsds *nsds, bool apply, const char **at, size_t *left, bool *bad);

/*
** The numbers that actions have changed, one after the other: number k of change c is `number`; *version: of its coefficient, or
** NULL. Returns false behind the last one. *other: a change that is of no numbers, or of another size than before.
*/
bool ns_action_changes_next(const NsActionChanges *changes, int *c, int *k, const NsActionChange **other);
double *ns_action_changes_number(const NsActionChanges *changes, int c, int k, uint64_t **version);
