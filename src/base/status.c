/*
** status.c
** Messages and names of the status codes.
*/
#include "base/status.h"

static const char *const messages[] = {
#define X(code, message) message,
    NS_STATUS_LIST(X)
#undef X
};

static const char *const names[] = {
#define X(code, message) #code,
    NS_STATUS_LIST(X)
#undef X
};

static int known(NsStatus status) {
  return (int)status >= 0 && (int)status < NS_STATUS_COUNT;
}

const char *ns_status_message(NsStatus status) {
  return known(status) ? messages[status] : "unknown status";
}

const char *ns_status_name(NsStatus status) {
  return known(status) ? names[status] : "NS_?";
}
