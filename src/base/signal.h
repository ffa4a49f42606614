/*
** signal.h
** SIGINT while the engine runs: long loops and scripts stop, and the host's handler comes back after.
*/
#pragma once

#include <stdbool.h>

/* What a signal does in the handler, beside raising the interrupt flag; all of it is async-signal-safe. */
typedef struct NsSignalHooks {
  void (*stop)(void *script); /* stops a script, in its own thread */
  void (*told)(void);         /* a signal has come to the process */
  bool (*prompted)(void); /* whether a prompt waits for the script: a second signal within two seconds then goes to the host */
} NsSignalHooks;

/*
** Until ns_signal_end a SIGINT raises the interrupt flag and stops `script` (not NULL). Runs nest; the script of the run around this one is
** returned (NULL: there is none), for ns_signal_end. waits: a signal that came before still waits, and the flag stays as it is. SIGINT belongs
** to the process: when several threads run, it stops all of them; the first run installs the handler, the last one restores the host's. All
** runs of a process have the same hooks.
*/
void *ns_signal_begin(const NsSignalHooks *hooks, void *script, bool waits);

/* Whether a signal came meanwhile. */
bool ns_signal_end(void *before);
