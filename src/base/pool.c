/*
** pool.c
** Threads that share the work of one call.
*/
/*
** One pool for the process. `turn` is held by the caller whose work is done; who finds it held works alone. A job is set under `lock`, and its number
** tells the threads that it is there; each comes to the job, under the lock, unless it is closed meanwhile: then all its work is taken. So on a
** busy machine a caller never waits for a thread that does not run, but for one that was stopped amid its work.
** Threads look at the number for a while before they sleep, since waking takes as long as a sweep over a small heap.
*/
#include "base/pool.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"

/* LOOKS: at the number of jobs before a thread sleeps, about 100 us. ROUNDS: of ns_pool_wait before it gives way. */
enum { LOOKS = 2000, ROUNDS = 20 };

static struct Pool {
  pthread_mutex_t turn, lock;
  pthread_cond_t begins, ends;
  atomic_int threads; /* that are wanted */
  int started, looks; /* without the caller; LOOKS, or 0 if there are fewer processors */
  pthread_t *thread;
  bool forks;       /* pool_forget is called in copies */
  atomic_uint jobs; /* so far; written under `lock`, as what follows */
  NsPoolBody *body; /* NULL: the threads end */
  void *context;
  NsInterruptWatch watch;
  int most, members, working; /* `members` have come, `working` of them have not gone; most: 0 when the job is closed */
} pool = {.turn = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .begins = PTHREAD_COND_INITIALIZER,
          .ends = PTHREAD_COND_INITIALIZER,
          .threads = 1};

int ns_pool_threads(void) {
  return atomic_load_explicit(&pool.threads, memory_order_relaxed);
}

static void pool_pause(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#endif
}

void ns_pool_wait(int round) {
  if (round < ROUNDS) pool_pause();
  else sched_yield();
}

/* ---- threads ---- */

/* Waits for a job after `seen`, and locks the pool. */
static void pool_await_job(unsigned seen) {
  for (int k = 0; k < pool.looks && atomic_load_explicit(&pool.jobs, memory_order_relaxed) == seen; k++) pool_pause();
  pthread_mutex_lock(&pool.lock);
  while (atomic_load_explicit(&pool.jobs, memory_order_relaxed) == seen) pthread_cond_wait(&pool.begins, &pool.lock);
}

static void *pool_thread(void *none) {
  for (unsigned seen = 0;;) {
    pool_await_job(seen);
    seen = atomic_load_explicit(&pool.jobs, memory_order_relaxed);
    NsPoolBody *body = pool.body;
    if (!body) break;
    if (pool.members < pool.most) {
      void *context = pool.context;
      int member = pool.members++;
      pool.working++;
      ns_interrupt_watch_with(&pool.watch);
      pthread_mutex_unlock(&pool.lock);
      body(context, member);
      pthread_mutex_lock(&pool.lock);
      if (--pool.working == 0) pthread_cond_signal(&pool.ends);
    }
    pthread_mutex_unlock(&pool.lock);
  }
  pthread_mutex_unlock(&pool.lock);
  return none;
}

/* Opens a job; body NULL: the threads end. */
static void pool_open(int most, NsPoolBody *body, void *context) {
  pthread_mutex_lock(&pool.lock);
  pool.body = body;
  pool.context = context;
  pool.watch = ns_interrupt_watch_now();
  pool.most = most;
  pool.members = 1;
  atomic_fetch_add_explicit(&pool.jobs, 1, memory_order_relaxed);
  pthread_cond_broadcast(&pool.begins);
  pthread_mutex_unlock(&pool.lock);
}

/* Closes it, and waits for those who are at work. */
static void pool_close(void) {
  pthread_mutex_lock(&pool.lock);
  pool.most = 0;
  for (int round = 0; pool.working > 0 && round < ROUNDS; round++) {
    pthread_mutex_unlock(&pool.lock);
    pool_pause();
    pthread_mutex_lock(&pool.lock);
  }
  while (pool.working > 0) pthread_cond_wait(&pool.ends, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

static void pool_end_threads(void) {
  if (pool.started > 0) pool_open(0, NULL, NULL);
  for (int k = 0; k < pool.started; k++) pthread_join(pool.thread[k], NULL);
  ns_free(pool.thread);
  pool.thread = NULL;
  pool.started = 0;
  atomic_store(&pool.jobs, 0);
}

/* In a copy of the process, which has the calling thread alone. The list of threads stays: the allocator may not be used here. */
static void pool_forget(void) {
  pthread_mutex_init(&pool.turn, NULL);
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.begins, NULL);
  pthread_cond_init(&pool.ends, NULL);
  pool.started = pool.working = 0;
  atomic_store(&pool.threads, 1);
  atomic_store(&pool.jobs, 0);
}

/* Starts the threads, if there are none; those that can't be started are done without. */
static void pool_start(int wanted) {
  sigset_t all, before;
  if (pool.started > 0 || (!pool.forks && pthread_atfork(NULL, NULL, pool_forget) != 0)) return;
  pool.forks = true;
  ns_free(pool.thread); /* in a copy of the process there is one */
  pool.thread = ns_alloc((size_t)wanted, sizeof *pool.thread);
  pool.looks = wanted < sysconf(_SC_NPROCESSORS_ONLN) ? LOOKS : 0;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.thread && pool.started < wanted && pthread_create(pool.thread + pool.started, NULL, pool_thread, NULL) == 0)
    pool.started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ns_pool_set_threads(int threads) {
  pthread_mutex_lock(&pool.turn);
  if (threads != atomic_exchange(&pool.threads, threads)) pool_end_threads();
  pthread_mutex_unlock(&pool.turn);
}

/* The library goes: at the end of the process, or when a host closes its last Lua state. Work of another thread goes on. */
__attribute__((destructor)) static void pool_leave(void) {
  if (pthread_mutex_trylock(&pool.turn) != 0) return;
  pool_end_threads();
  pthread_mutex_unlock(&pool.turn);
}

/* ---- work ---- */

void ns_pool_share(int most, NsPoolBody *body, void *context) {
  int threads = ns_pool_threads();
  if (most <= 1 || threads == 1 || pthread_mutex_trylock(&pool.turn) != 0) {
    body(context, 0);
    return;
  }
  pool_start(threads - 1);
  pool_open(most, body, context);
  body(context, 0);
  pool_close();
  pthread_mutex_unlock(&pool.turn);
}

typedef struct PoolTasks {
  NsPoolTask *task;
  void *context;
  int count;
  atomic_int next;
  pthread_mutex_t lock;
  int failed; /* the first task that failed */
  NsStatus status;
} PoolTasks;

static void pool_take_tasks(void *context, int member) {
  PoolTasks *t = context;
  for (int k; (k = atomic_fetch_add(&t->next, 1)) < t->count;) {
    NsStatus status = t->task(t->context, k, member);
    if (!status) continue;
    atomic_store(&t->next, t->count);
    pthread_mutex_lock(&t->lock);
    if (k < t->failed) t->failed = k, t->status = status;
    pthread_mutex_unlock(&t->lock);
  }
}

NsStatus ns_pool_run(int most, int count, NsPoolTask *task, void *context) {
  PoolTasks t = {.task = task, .context = context, .count = count, .failed = INT_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
  ns_pool_share(most < count ? most : count, pool_take_tasks, &t);
  pthread_mutex_destroy(&t.lock);
  return t.status;
}
