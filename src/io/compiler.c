/*
** compiler.c
** Spawning a C compiler in a private directory.
*/
#include "io/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Gives the child default signals, none of them blocked. */
static int set_signals(posix_spawnattr_t *attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Runs the program with empty standard input; its output goes to the log. Returns 0 or an errno. */
static int compiler_spawn(const Place *p, char *const *words, int *status) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  pid_t child;
  int failed = posix_spawn_file_actions_init(&files);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, 1, p->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!failed) failed = set_signals(&attributes);
    if (!failed) failed = posix_spawn(&child, words[0], &files, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  if (!failed) *status = wait_for(child);
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

static NsStatus compiler_compile(const Place *p, const char *program, NsError *err) {
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
  int status = 0, failed = ENOENT;
  if (find_program(program, found, sizeof found)) failed = compiler_spawn(p, is_tcc(program) ? tiny : native, &status);
  if (failed || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return ns_fail(err, NS_EIO, "cannot run compiler '%s': %s", program, strerror(failed ? failed : ENOENT));
  if (status == 0) return NS_OK;
  char text[300];
  read_log(p, text, sizeof text);
  return ns_fail(err, NS_EIO, "compiler '%s' failed: %s", program, text[0] ? text : "it said nothing");
}

static NsStatus compile_and_open(NsLibrary **library, const Place *p, const char *program, NsError *err) {
  NsStatus status = compiler_compile(p, program, err);
  return status == NS_OK ? ns_library_open(library, p->object, err) : status;
}

/* Compiles with the first compiler that succeeds. If none does, err is the error of the first one that exists. */
static NsStatus try_all(NsLibrary **library, const Place *p, const char **found, NsError *err) {
  static const char *const programs[] = {"cc", "tcc"};
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
