/*
** engine.h
** What the core lends to optional modules, which are built apart from it: one table of functions with a version.
*/
#ifndef NS_BASE_ENGINE_H
#define NS_BASE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Grows by one with each change of NsEngine, or of a struct that a module and the core hand to each other. */
enum { NS_ENGINE_VERSION = 2 };

/* The functions of base/memory.h, base/error.h and base/interrupt.h, those of the core that has loaded the module. */
typedef struct NsEngine {
  int version;
  void *(*alloc)(size_t count, size_t size);
  void (*release)(void *block);
  NsStatus (*fail)(NsError *err, NsStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));
  bool (*interrupted)(void);
} NsEngine;

/* The table of this process; never NULL. */
const NsEngine *ns_engine(void);

#endif
