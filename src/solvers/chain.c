/*
** chain.c
** Runs chains of methods, and lists the names of methods.
*/
#include "solvers/chain.h"

#include <stdio.h>

#include "base/interrupt.h"

const char *ns_method_name(const NsMethod *const *list, unsigned takes, int k, const NsMethod **method) {
  *method = NULL;
  if (k-- == 0) return "default";
  for (; *list; list++) {
    if (!(*list)->name || (takes & ~(*list)->takes)) continue;
    *method = *list;
    if (k-- == 0) return (*list)->name;
    for (const char *const *alias = (*list)->aliases; alias && *alias; alias++)
      if (k-- == 0) return *alias;
  }
  return *method = NULL, NULL;
}

void ns_method_words(const NsMethod *const *list, unsigned takes, char *to, size_t size) {
  const NsMethod *method;
  const char *name = ns_method_name(list, takes, 0, &method), *next;
  size_t used = 0;
  for (int k = 1; name && used < size; name = next, k++) {
    next = ns_method_name(list, takes, k, &method);
    const char *before = k == 1 ? "" : next ? ", " : " or ";
    used += (size_t)snprintf(to + used, size - used, "%s'%s'", before, name);
  }
}

NsStatus ns_methods_reserve(NsMethods *methods, const NsMethod *const *list, NsArena *arena, NsSearch *search) {
  size_t count = 0;
  while (list[count]) count++;
  methods->list = list;
  methods->work = ns_arena_take(arena, count, sizeof *methods->work);
  if (!methods->work) return NS_ENOMEM;
  for (size_t k = 0; k < count; k++) {
    NsStatus status = list[k]->reserve ? list[k]->reserve(&methods->work[k], search) : NS_OK;
    if (status) return status;
  }
  return arena->failed ? NS_ENOMEM : NS_OK;
}

void ns_methods_release(NsMethods *methods) {
  for (size_t k = 0; methods->work && methods->list[k]; k++)
    if (methods->list[k]->release) methods->list[k]->release(methods->work[k]);
  methods->work = NULL;
}

/* The place of a method in the list of its workspaces; the list's end when it is not there. */
static int chain_place_of(const NsMethods *methods, const NsMethod *method) {
  int k = 0;
  while (methods->list[k] && methods->list[k] != method) k++;
  return k;
}

NsStatus ns_chain_bind(NsChain *chain, const NsChainStep *steps, const NsMethods *methods, NsArena *arena) {
  size_t count = 0;
  while (steps[count].method || steps[count].back) count++;
  chain->step = steps;
  chain->work = ns_arena_take(arena, count, sizeof *chain->work);
  if (!chain->work) return NS_ENOMEM;
  for (size_t k = 0; k < count; k++) {
    if (!steps[k].method) continue;
    int place = chain_place_of(methods, steps[k].method);
    if (!methods->list[place]) return NS_EARG;
    chain->work[k] = methods->work[place];
  }
  return NS_OK;
}

/* Whether the search ends after a step with *out; may change out->status. */
static inline bool chain_ends(const NsChainStep *step, const NsSearch *search, NsOutcome *out) {
  if (out->status == NS_EINTR) return true;
  if (search->least <= search->exact) return out->status = NS_OK, true;
  if (out->status == NS_OK && (step->exact || !(search->least <= search->tolerance))) out->status = NS_ENOCONV;
  return out->status == NS_OK || out->status == NS_ENOSOL || (search->final >> out->status & 1u);
}

NsOutcome ns_chain_run(const NsChain *chain, NsSearch *search) {
  NsOutcome out = {NS_ENOCONV, false, 0, "none"}, told;
  bool ran = false, tells = false;
  for (int k = 0; chain->step[k].method || chain->step[k].back; k++) {
    const NsChainStep *step = &chain->step[k];
    if (step->when && !step->when(search)) continue;
    if (!step->method) {
      k -= step->back + 1;
      continue;
    }
    if (ran && ns_interrupted()) return out.status = NS_EINTR, out;
    if (ns_search_late(search)) return out.status = NS_EMAXITER, out;
    out = step->method->run(chain->work[k], search, step->mode);
    if (chain_ends(step, search, &out)) return out;
    if (step->tells) told = out, tells = true;
    ran = true;
  }
  if (tells) out = told;
  return out;
}

NsOutcome ns_method_run(const NsMethod *method, const NsMethods *methods, NsSearch *search) {
  const NsChainStep step = {.method = method};
  NsOutcome out = method->run(methods->work[chain_place_of(methods, method)], search, 0);
  chain_ends(&step, search, &out);
  return out;
}
