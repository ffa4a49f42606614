/*
** law_changes.h
** What actions of events have changed in the laws of a model, so that a reset can undo it.
*/
#ifndef NS_SIMULATION_LAW_CHANGES_H
#define NS_SIMULATION_LAW_CHANGES_H

#include "model/nsds.h"

/*
** Copies of the state of all laws (ns_nsds_visit_laws): now, before the present action; before, without what actions have changed;
** left, as the last action that changed a number has left it. A zeroed one has no changes.
*/
typedef struct NsLawChanges {
  NsSnapshot now, before, left;
} NsLawChanges;

/* An action begins. NS_ENOMEM. It has ended: takes down what it has changed; nothing when it has changed what is linked. */
NsStatus ns_law_changes_begin(NsLawChanges *changes, NsNsds *nsds);
void ns_law_changes_end(NsLawChanges *changes, NsNsds *nsds);

/* Undoes the changes, except of numbers that have been changed again since; then there are none. */
void ns_law_changes_undo(NsLawChanges *changes, NsNsds *nsds);
void ns_law_changes_clear(NsLawChanges *changes);

#endif
