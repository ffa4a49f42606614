/*
** flow_mode.c
** The blocks of a flow: its mode, and what it remembers of the run.
*/
#include "integrators/flow/flow_mode.h"

#include <stddef.h>
#include <string.h>

NsFlowMode *ns_flow_mode_new(NsArena *arena, int n, int m) {
  size_t rows = (size_t)m * sizeof(NsRowMode) / sizeof(double) + 1; /* in numbers */
  NsFlowMode *mode = ns_arena_take(arena, sizeof *mode + ((size_t)n + (size_t)m + rows) * sizeof(double), 1);
  if (!mode) return NULL;
  mode->n = n;
  mode->lambda = (double *)(void *)(mode + 1);
  mode->rows = (NsRowMode *)(void *)(mode->lambda + m);
  mode->a = mode->lambda + m + rows;
  ns_flow_mode_resize(mode, 0);
  return mode;
}

void ns_flow_mode_resize(NsFlowMode *mode, int na) {
  memset(mode->a, 0, (size_t)mode->n * sizeof *mode->a);
  mode->bytes = (size_t)((const char *)(mode->a + na) - (const char *)ns_flow_mode_block(mode));
}

void *ns_flow_mode_block(const NsFlowMode *mode) {
  return (char *)(size_t)mode + offsetof(NsFlowMode, t_k);
}

void ns_flow_mode_take(NsFlowMode *mode, const void *block) {
  memcpy(ns_flow_mode_block(mode), block, mode->bytes);
}

void ns_flow_memory_make(NsFlowMemory *memory, NsArena *arena, int n, int m) {
  size_t count = 5 * (size_t)n + 4 * (size_t)m;
  double *at = ns_arena_take(arena, count, sizeof *at);
  memory->block = at;
  memory->bytes = count * sizeof *at;
  double **of_states[] = {&memory->x, &memory->s, &memory->size, &memory->a_size, &memory->a_most};
  double **of_rows[] = {&memory->lambda_size, &memory->lambda_most, &memory->y_way, &memory->strength};
  for (int k = 0; k < 5 && at; k++, at += n) *of_states[k] = at;
  for (int k = 0; k < 4 && at; k++, at += m) *of_rows[k] = at;
}
