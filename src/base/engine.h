/*
** engine.h
** The functions of the core that optional modules (built separately) may call: one table with a version.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Add 1 at each change of NsEngine, or of a struct that a module and the core exchange. */
enum { NS_ENGINE_VERSION = 3 };

/* Functions of base/memory.h, base/error.h and base/interrupt.h, in the core that has loaded the module. */
typedef struct NsEngine {
  int version;
  void *(*alloc)(size_t count, size_t size);
  void (*release)(void *block);
  NsStatus (*fail)(NsError *err, NsStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));
  bool (*interrupted)(void);
} NsEngine;

/* The table of this process; never NULL. */
const NsEngine *ns_engine(void);
