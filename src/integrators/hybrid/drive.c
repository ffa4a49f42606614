/*
** drive.c
** From event to event: the loop of all motions with events.
*/
#include "base/interrupt.h"
#include "integrators/hybrid/hybrid.h"

void ns_hybrid_take(NsHybrid *run, int most, int columns) {
  NsArena *arena = &run->base.arena;
  NS_ARENA_VECTORS(arena, most, &run->u, &run->atol, &run->from, &run->sample);
  run->rows = ns_arena_matrix(arena, most, run->method->rows);
  run->columns = columns;
  run->side = ns_arena_doubles(arena, columns);
  run->values = ns_arena_matrix(arena, columns, NS_BERNSTEIN_SIZE);
  run->moved = ns_arena_doubles(arena, columns);
  run->defects = ns_arena_matrix(arena, columns, NS_DEFECTS);
  NS_ARENA_VECTORS(arena, most, &run->slope, &run->rate);
}

void ns_hybrid_start(NsHybrid *run, const NsStep *step, const NsDrive *drive) {
  run->log = drive->log;
  run->log->slope = 0;
  run->sink = drive->sink;
  run->sensitivity = drive->sensitivity;
  run->linker = drive->linker;
  run->t = run->t_k = step->t_k;
  run->t_next = step->t;
  run->t_data = step->jumps ? step->t : run->base.nsds->T;
  run->handled = 0;
}

NsStatus ns_hybrid_take_stepper(NsHybrid *run, NsOdeProblem problem, bool *anew, NsError *err) {
  const NsEventOptions *options = (const NsEventOptions *)run->base.integrator;
  *anew = !run->stepper || run->unknowns != problem.n || run->options.rtol != options->rtol;
  run->options = *options;
  if (!*anew) return NS_OK;
  run->method->destroy(run->stepper);
  problem.rtol = options->rtol;
  problem.atol = run->atol;
  run->unknowns = problem.n;
  NsStatus status = run->method->create(&run->stepper, &problem);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

static NsStatus hybrid_step(NsHybrid *run, int *event, NsError *err) {
  NsStatus status = run->class->advance(run, event, err);
  if (status == NS_OK) status = ns_hybrid_sense_piece(run, err);
  if (status == NS_OK) status = ns_hybrid_tell_piece(run, err);
  return status == NS_OK ? run->class->take(run, err) : status;
}

NsStatus ns_hybrid_go_on(NsHybrid *run, NsError *err) {
  const NsHybridClass *of = run->class;
  int event = -1;
  bool ends = false;
  NsStatus status = of->begin(run, err);
  while (status == NS_OK) {
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
    status = hybrid_step(run, &event, err);
    if (status != NS_OK && of->resumes && of->resumes(run, status, err)) return NS_OK;
    if (status == NS_OK && event < 0) status = of->renew(run, &event, &ends, err);
    if (status != NS_OK) return status;
    if (event >= 0) return of->handle(run, event, err);
    if (ends || run->t >= run->t_next) return NS_OK;
  }
  return status;
}

NsStatus ns_hybrid_drive(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err) {
  NsHybrid *run = (NsHybrid *)scheme;
  NsStatus status = run->class->start(run, step, drive, err);
  while (status == NS_OK && run->t < step->t && !run->log->stopped) status = run->class->go_on(run, err);
  return status == NS_OK ? run->class->finish(run, err) : status;
}
