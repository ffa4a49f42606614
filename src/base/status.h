/*
** status.h
** Status codes of the engine and their messages, made from one list.
*/
#pragma once

/* X(code, message). A status is the kind of failure; NsError says where it happened. */
#define NS_STATUS_LIST(X)                                                                                                      \
  X(NS_OK, "success")                                                                                                          \
  X(NS_ENOMEM, "not enough memory")                                                                                            \
  X(NS_EARG, "bad argument")                                                                                                   \
  X(NS_ESIZE, "sizes do not match")                                                                                            \
  X(NS_ETOOLARGE, "size too large")                                                                                            \
  X(NS_ENAN, "not a finite number")                                                                                            \
  X(NS_ESINGULAR, "singular matrix")                                                                                           \
  X(NS_ENOTSPD, "matrix is not positive definite")                                                                             \
  X(NS_ENOCONV, "did not converge")                                                                                            \
  X(NS_EMAXITER, "iteration limit reached")                                                                                    \
  X(NS_ERAY, "ended on a ray")                                                                                                 \
  X(NS_ENOSOL, "no solution")                                                                                                  \
  X(NS_ECALLBACK, "callback failed")                                                                                           \
  X(NS_ERETRY, "callback failed, a smaller step may help")                                                                     \
  X(NS_EINTR, "interrupted")                                                                                                   \
  X(NS_EBUSY, "a step is being computed")                                                                                      \
  X(NS_EEND, "the end of the time interval is reached")                                                                        \
  X(NS_ECLOSED, "used after close")                                                                                            \
  X(NS_EIO, "input/output error")

typedef enum NsStatus {
#define X(code, message) code,
  NS_STATUS_LIST(X)
#undef X
      NS_STATUS_COUNT
} NsStatus;

/* The message of a code; "unknown status" for any other number. Never NULL. */
const char *ns_status_message(NsStatus status);

/* The name of a code, "NS_ESINGULAR"; "NS_?" for any other number. Never NULL. */
const char *ns_status_name(NsStatus status);
