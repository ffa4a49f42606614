/*
** mpi.c
** Point-to-point messages by MPI 3. Only this file includes mpi.h. Nothing here blocks: a rank that is lost halfway through
** a message must not stop the others.
*/
#include "workers/mpi.h"

#include <limits.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "workers/tether.h"

enum { TAG = 1 };

/* Seconds that a rank waits for its tie to rank 0: a network answers within milliseconds, a firewall never. */
static const double TIE = 3;

/* A message on its way. Lists keep the order in which messages were sent or matched. */
typedef struct MpiMessage {
  struct MpiMessage *next;
  MPI_Request request;
  int rank; /* of the other side */
  bool arrived;
  size_t size;
  char bytes[]; /* at least one, so that a message always has an address */
} MpiMessage;

/* A process joins once, so its messages belong to the process. */
static struct {
  const NsEngine *engine;
  MpiMessage *leaving, *coming;
  MpiMessage *read; /* the one that ns_mpi_receive has returned */
  bool *gone;       /* of each rank */
  int tether;       /* of a rank other than 0 to rank 0; -1 when there is none */
  bool started, finished, loss;
} mpi;

static NsStatus mpi_fails(int code, NsError *err) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) strcpy(text, "unknown error");
  return mpi.engine->fail(err, NS_EIO, "MPI: %s", text);
}

const char *ns_mpi_version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "MPI";
  text[strcspn(text, ",\n")] = '\0'; /* Open MPI tells its whole configuration */
  char *v = strstr(text, " v");
  if (v && v[2] >= '0' && v[2] <= '9') memmove(v + 1, v + 2, strlen(v + 2) + 1);
  return text;
}

/* Ties the other ranks to rank 0. */
static int mpi_tie(int rank, int count) {
  NsTetherPlace place;
  mpi.tether = -1;
  if (count == 1) return MPI_SUCCESS;
  if (rank == 0) ns_tether_open(&place, count);
  int code = MPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS && rank > 0) mpi.tether = ns_tether_tie(&place, TIE);
  return code;
}

bool ns_mpi_abandoned(void) {
  return ns_tether_broken(mpi.tether);
}

NsStatus ns_mpi_start(const NsEngine *engine, int *rank, int *count, NsError *err) {
  int given, code;
  bool first = !mpi.started;
  mpi.engine = engine;
  if (mpi.finished) return engine->fail(err, NS_EIO, "MPI: this process has left its ranks");
  if (first) {
    /* Another module of this process may have joined before. */
    code = MPI_Initialized(&given);
    if (code == MPI_SUCCESS && !given) code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    if (code != MPI_SUCCESS) return mpi_fails(code, err);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mpi.started = true;
  }
  code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, count);
  if (code == MPI_SUCCESS && first) code = mpi_tie(*rank, *count);
  if (code != MPI_SUCCESS) return mpi_fails(code, err);
  if (!mpi.gone) mpi.gone = engine->alloc((size_t)*count, sizeof *mpi.gone);
  return mpi.gone ? NS_OK : engine->fail(err, NS_ENOMEM, "not enough memory");
}

/* Adds a message of `size` bytes to the end of a list; NULL without memory. */
static MpiMessage *mpi_add(MpiMessage **list, int rank, size_t size) {
  MpiMessage *message = mpi.engine->alloc(1, sizeof *message + size + 1);
  if (!message) return NULL;
  message->rank = rank;
  message->size = size;
  message->request = MPI_REQUEST_NULL;
  while (*list) list = &(*list)->next;
  return *list = message;
}

static void mpi_drop(MpiMessage **at) {
  MpiMessage *message = *at;
  *at = message->next;
  mpi.engine->release(message);
}

/* Lets messages leave and frees those that have left. An error concerns a rank that is lost: its messages are dropped. */
static void mpi_push(void) {
  for (MpiMessage **at = &mpi.leaving; *at;) {
    int done = 0;
    if (MPI_Test(&(*at)->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) mpi_drop(at);
    else at = &(*at)->next;
  }
}

NsStatus ns_mpi_send(int to, const void *bytes, size_t size, NsError *err) {
  if (mpi.gone[to]) return NS_OK;
  if (size > INT_MAX) return mpi.engine->fail(err, NS_ETOOLARGE, "MPI: a message of more than 2 GB");
  MpiMessage *message = mpi_add(&mpi.leaving, to, size);
  if (!message) return mpi.engine->fail(err, NS_ENOMEM, "not enough memory");
  memcpy(message->bytes, bytes, size);
  int code = MPI_Isend(message->bytes, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &message->request);
  mpi_push();
  return code == MPI_SUCCESS ? NS_OK : mpi_fails(code, err);
}

/* Begins to receive all messages that have been announced. */
static NsStatus mpi_match(NsError *err) {
  for (;;) {
    int there = 0, size = 0;
    MPI_Message handle;
    MPI_Status status;
    int code = MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &handle, &status);
    if (code == MPI_SUCCESS && !there) return NS_OK;
    if (code == MPI_SUCCESS) code = MPI_Get_count(&status, MPI_BYTE, &size);
    if (code != MPI_SUCCESS) return mpi_fails(code, err);
    MpiMessage *message = mpi_add(&mpi.coming, status.MPI_SOURCE, (size_t)size);
    if (!message) return mpi.engine->fail(err, NS_ENOMEM, "not enough memory");
    code = MPI_Imrecv(message->bytes, size, MPI_BYTE, &handle, &message->request);
    if (code != MPI_SUCCESS) return mpi_fails(code, err);
  }
}

/* Whether a message that stands before `end` in the list comes from the same rank. */
static bool mpi_has_earlier(const MpiMessage *end) {
  for (const MpiMessage *m = mpi.coming; m != end; m = m->next)
    if (m->rank == end->rank) return true;
  return false;
}

NsStatus ns_mpi_receive(int *from, const char **bytes, size_t *size, NsError *err) {
  *bytes = NULL;
  mpi.engine->release(mpi.read);
  mpi.read = NULL;
  mpi_push();
  NsStatus status = mpi_match(err);
  if (status != NS_OK) return status;
  for (MpiMessage **at = &mpi.coming; *at; at = &(*at)->next) {
    MpiMessage *message = *at;
    int done = message->arrived;
    if (!done) MPI_Test(&message->request, &done, MPI_STATUS_IGNORE);
    message->arrived = done;
    if (!done || mpi_has_earlier(message)) continue;
    *at = message->next;
    mpi.read = message;
    *from = message->rank;
    *bytes = message->bytes;
    *size = message->size;
    return NS_OK;
  }
  return NS_OK;
}

/* The memory of a message that MPI may still read is kept. */
void ns_mpi_lose(int rank) {
  mpi.loss = mpi.gone[rank] = true;
  for (MpiMessage **at = &mpi.leaving; *at;) {
    if ((*at)->rank == rank) *at = (*at)->next;
    else at = &(*at)->next;
  }
}

void ns_mpi_finish(double seconds) {
  if (!mpi.started || mpi.finished) return;
  mpi.finished = true;
  for (double end = ns_clock_now() + seconds; mpi.leaving && ns_clock_now() < end;) {
    mpi_push();
    nanosleep(&(struct timespec){0, 200000}, NULL);
  }
  mpi.engine->release(mpi.read);
  mpi.read = NULL;
  if (!mpi.loss) MPI_Finalize(); /* it waits for all ranks */
}
