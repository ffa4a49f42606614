/*
** engine.c
** The table of functions for optional modules.
*/
#include "base/engine.h"

#include "base/interrupt.h"
#include "base/memory.h"

const NsEngine *ns_engine(void) {
  static const NsEngine engine = {
      .version = NS_ENGINE_VERSION, .alloc = ns_alloc, .release = ns_free, .fail = ns_fail, .interrupted = ns_interrupted};
  return &engine;
}
