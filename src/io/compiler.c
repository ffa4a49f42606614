/*
** compiler.c
** Spawning a C compiler in a private directory.
*/
#include "io/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/scratch.h"

extern char **environ;

enum { PATH_SIZE = NS_SCRATCH_PATH };

/* The private directory and the files in it. */
typedef struct Place {
  NsScratch scratch;
  char source[PATH_SIZE + 16], object[PATH_SIZE + 16], log[PATH_SIZE + 16];
} Place;

static NsStatus make_place(Place *p, NsError *err) {
  NsStatus status = ns_scratch_new(&p->scratch, err);
  if (status != NS_OK) return status;
  snprintf(p->source, sizeof p->source, "%s/tape.c", p->scratch.path);
  snprintf(p->object, sizeof p->object, "%s/tape.so", p->scratch.path);
  snprintf(p->log, sizeof p->log, "%s/log", p->scratch.path);
  return NS_OK;
}

static NsStatus write_source(const Place *p, const char *source, NsError *err) {
  FILE *file = fopen(p->source, "wx");
  if (!file) return ns_fail(err, NS_EIO, "cannot write '%s': %s", p->source, strerror(errno));
  bool good = fwrite(source, 1, strlen(source), file) == strlen(source);
  good = fclose(file) == 0 && good;
  return good ? NS_OK : ns_fail(err, NS_EIO, "cannot write '%s': %s", p->source, strerror(errno));
}

/* Finds the path of a program; without a slash it is searched in the absolute directories of PATH. False: not found. */
static bool find_program(const char *program, char *path, size_t size) {
  if (strchr(program, '/')) return (size_t)snprintf(path, size, "%s", program) < size;
  for (const char *from = getenv("PATH"), *end; from; from = *end ? end + 1 : NULL) {
    end = from + strcspn(from, ":");
    int length = snprintf(path, size, "%.*s/%s", (int)(end - from), from, program);
    if (from[0] == '/' && (size_t)length < size && access(path, X_OK) == 0) return true;
  }
  return false;
}

static bool is_tcc(const char *program) {
  const char *slash = strrchr(program, '/');
  return strcmp(slash ? slash + 1 : program, "tcc") == 0;
}

/* Waits for the child. Returns 0 when it succeeded, or when its status is unknown because the host reaps its children. */
static int wait_for(pid_t child) {
  int status = 0;
  pid_t got;
  do got = waitpid(child, &status, 0);
  while (got < 0 && errno == EINTR);
  return got < 0 ? 0 : status;
}

/* Gives the child default signals, none of them blocked, and a process group of its own, so that what it starts can be ended, too. */
static int set_signals(posix_spawnattr_t *attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

/* The environment, with the private directory as TMPDIR; NULL: no memory. `word` has room for its path. */
static char **compiler_environment(const Place *p, char *word, size_t size) {
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **list = ns_alloc(count + 2, sizeof *list);
  if (!list) return NULL;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "TMPDIR=", 7) != 0) list[kept++] = environ[i];
  snprintf(word, size, "TMPDIR=%s", p->scratch.path);
  list[kept++] = word;
  list[kept] = NULL;
  return list;
}

/* Starts the program with empty standard input; its output goes to the log. Returns 0 or an errno. */
static int compiler_spawn(const Place *p, char *const *words, pid_t *child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  char word[PATH_SIZE + 16], **environment = compiler_environment(p, word, sizeof word);
  int failed = environment ? posix_spawn_file_actions_init(&files) : ENOMEM;
  if (failed) {
    ns_free(environment);
    return failed;
  }
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, 1, p->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!failed) failed = set_signals(&attributes);
    if (!failed) failed = posix_spawn(child, words[0], &files, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  ns_free(environment);
  return failed;
}

/* Reads the first lines of the compiler's output. */
static void read_log(const Place *p, char *text, size_t size) {
  FILE *file = fopen(p->log, "r");
  size_t length = file ? fread(text, 1, size - 1, file) : 0;
  if (file) fclose(file);
  while (length > 0 && text[length - 1] == '\n') length--;
  text[length] = '\0';
}

/* Starts a compiler on the source. Returns 0 or an errno. */
static int compiler_launch(const Place *p, const char *program, pid_t *child) {
  char found[PATH_SIZE];
  char *native[] = {found,
                    "-O2",
                    "-w",
                    "-fPIC",
                    "-shared",
                    "-fno-builtin",
                    "-ffp-contract=off",
                    "-fno-math-errno",
                    "-o",
                    (char *)p->object,
                    (char *)p->source,
                    "-lm",
                    NULL};
  char *tiny[] = {found, "-w", "-shared", "-o", (char *)p->object, (char *)p->source, "-lm", NULL};
  if (!find_program(program, found, sizeof found)) return ENOENT;
  return compiler_spawn(p, is_tcc(program) ? tiny : native, child);
}

/* How it ended: failed is an errno of its start, status the status of the process. */
static NsStatus compiler_verdict(const Place *p, const char *program, int failed, int status, NsError *err) {
  if (failed || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return ns_fail(err, NS_EIO, "cannot run compiler '%s': %s", program, strerror(failed ? failed : ENOENT));
  if (status == 0) return NS_OK;
  char text[300];
  read_log(p, text, sizeof text);
  return ns_fail(err, NS_EIO, "compiler '%s' failed: %s", program, text[0] ? text : "it said nothing");
}

static NsStatus compiler_compile(const Place *p, const char *program, NsError *err) {
  pid_t child;
  int failed = compiler_launch(p, program, &child);
  return compiler_verdict(p, program, failed, failed ? 0 : wait_for(child), err);
}

static NsStatus compile_and_open(NsLibrary **library, const Place *p, const char *program, NsError *err) {
  NsStatus status = compiler_compile(p, program, err);
  return status == NS_OK ? ns_library_open(library, p->object, err) : status;
}

static const char *const programs[] = {"cc", "tcc"};

/* Compiles with the first compiler that succeeds. If none does, err is the error of the first one that exists. */
static NsStatus try_all(NsLibrary **library, const Place *p, const char **found, NsError *err) {
  NsError first = {NS_OK, ""};
  for (int i = 0; i < 2; i++) {
    *found = programs[i];
    if (compile_and_open(library, p, *found, err) == NS_OK) return NS_OK;
    if (first.status == NS_OK && strncmp(err->text, "cannot run", 10) != 0) first = *err;
  }
  if (first.status == NS_OK) return ns_fail(err, NS_EIO, "no C compiler (cc, tcc)");
  *err = first;
  return first.status;
}

NsStatus ns_compiler_build(NsLibrary **library, const char *source, const char *program, const char **used, NsError *err) {
  Place place = {.scratch = {""}};
  const char *found = program;
  *library = NULL;
  NsStatus status = make_place(&place, err);
  if (status != NS_OK) return status;
  status = write_source(&place, source, err);
  if (status == NS_OK && program) status = compile_and_open(library, &place, program, err);
  else if (status == NS_OK) status = try_all(library, &place, &found, err);
  ns_scratch_remove(&place.scratch);
  if (used) *used = found;
  return status;
}

/* ---- in the background ---- */

/* At most two work at a time: one for each core of a small machine. */
enum { MOST_AT_WORK = 2 };

struct NsCompilation {
  Place place;
  char *source;
  int program;        /* of `programs` */
  pid_t owner, child; /* owner: the process that has begun it, 0: none; a fork of it must not touch the files */
  bool ended;
  NsError err;
  NsCompilation *next;
};

/* All that have begun and have not been taken, in all threads; one thread at a time looks at them. */
static NsCompilation *begun;
static atomic_flag begun_lock = ATOMIC_FLAG_INIT;
static bool exit_is_watched;
static const int deadly[] = {SIGTERM, SIGHUP};

/* The signals that end a process are blocked meanwhile: their handler looks at the list, too. */
static void begun_enter(sigset_t *before) {
  sigset_t deadly_set;
  sigemptyset(&deadly_set);
  for (int i = 0; i < 2; i++) sigaddset(&deadly_set, deadly[i]);
  pthread_sigmask(SIG_BLOCK, &deadly_set, before);
  while (atomic_flag_test_and_set(&begun_lock)) continue;
}

static void begun_leave(const sigset_t *before) {
  atomic_flag_clear(&begun_lock);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Ends the process, if it works, and removes its files. */
static void compilation_clean(NsCompilation *c) {
  if (c->owner != getpid()) return;
  if (c->child > 0) {
    kill(-c->child, SIGKILL);
    (void)wait_for(c->child);
  }
  c->child = 0;
  c->owner = 0;
  ns_scratch_remove(&c->place.scratch);
}

/* A host that exits without closing its Lua state leaves no process and no files. */
static void clean_all(void) {
  for (NsCompilation *c = begun; c; c = c->next) compilation_clean(c);
}

/*
** A signal ends the process: ends the compilers, which remove their own files, and removes the rest. A list that another thread is changing
** is left alone. It calls only what a handler may call.
*/
static void on_deadly(int number) {
  pid_t here = getpid();
  bool free = !atomic_flag_test_and_set(&begun_lock);
  for (NsCompilation *c = free ? begun : NULL; c; c = c->next) {
    if (c->owner != here) continue;
    if (c->child > 0 && kill(-c->child, SIGTERM) == 0) (void)wait_for(c->child);
    unlink(c->place.source);
    unlink(c->place.object);
    unlink(c->place.log);
    rmdir(c->place.scratch.path);
  }
  signal(number, SIG_DFL);
  kill(here, number);
}

/* Sees to the end of the process: by exit, or by a signal that the host neither handles nor ignores. */
static void watch_exit(void) {
  struct sigaction before, action = {.sa_handler = on_deadly};
  if (exit_is_watched) return;
  exit_is_watched = true;
  atexit(clean_all);
  for (int i = 0; i < 2; i++)
    if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(deadly[i], &action, NULL);
}

/* Starts the present compiler, or the next one that can be started. */
static void compilation_launch(NsCompilation *c) {
  for (; c->program < 2; c->program++) {
    if (compiler_launch(&c->place, programs[c->program], &c->child) == 0) return;
    c->child = 0;
  }
  if (c->err.status == NS_OK) (void)ns_fail(&c->err, NS_EIO, "no C compiler (cc, tcc)");
  c->ended = true;
}

static void compilation_begin(NsCompilation *c) {
  watch_exit();
  c->owner = getpid();
  c->next = begun;
  begun = c;
  c->ended = make_place(&c->place, &c->err) != NS_OK || write_source(&c->place, c->source, &c->err) != NS_OK;
  if (!c->ended) compilation_launch(c);
}

/* Looks at one whose compiler works. */
static void compilation_look(NsCompilation *c) {
  int status = 0;
  pid_t got = waitpid(c->child, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return;
  NsError err = {NS_OK, ""};
  c->child = 0;
  if (compiler_verdict(&c->place, programs[c->program], 0, got < 0 ? 0 : status, &err) == NS_OK) {
    c->err.status = NS_OK;
    c->ended = true;
    return;
  }
  if (c->err.status == NS_OK) c->err = err;
  c->program++;
  compilation_launch(c);
}

bool ns_compiler_ended(NsCompilation *c) {
  int at_work = 0;
  pid_t here = getpid();
  sigset_t before;
  begun_enter(&before);
  for (NsCompilation *other = c->owner ? c : begun; other; other = c->owner ? NULL : other->next) {
    if (other->owner == here && other->child > 0) compilation_look(other);
    at_work += other->owner == here && other->child > 0;
  }
  if (!c->owner && !c->ended && at_work < MOST_AT_WORK) compilation_begin(c);
  begun_leave(&before);
  return c->ended;
}

NsCompilation *ns_compiler_start(const char *source) {
  NsCompilation *c = ns_alloc(1, sizeof *c);
  char *copy = ns_alloc(strlen(source) + 1, 1);
  if (!c || !copy) {
    ns_free(c);
    ns_free(copy);
    return NULL;
  }
  memset(c, 0, sizeof *c);
  c->source = strcpy(copy, source);
  (void)ns_compiler_ended(c);
  return c;
}

NsStatus ns_compiler_take(NsCompilation *c, NsLibrary **library, const char **used, NsError *err) {
  *library = NULL;
  if (c->program < 2) *used = programs[c->program];
  if (c->err.status == NS_OK) return ns_library_open(library, c->place.object, err);
  *err = c->err;
  return err->status;
}

void ns_compiler_stop(NsCompilation *c) {
  if (!c) return;
  sigset_t before;
  begun_enter(&before);
  for (NsCompilation **at = &begun; *at; at = &(*at)->next) {
    if (*at != c) continue;
    *at = c->next;
    break;
  }
  compilation_clean(c);
  begun_leave(&before);
  ns_free(c->source);
  ns_free(c);
}
