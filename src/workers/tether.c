/*
** tether.c
** One side listens and never accepts: the kernel completes connections by itself, and resets them when the process that
** listens has ended. So that process may be busy with anything else.
*/
#include "workers/tether.h"

#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A machine that is lost sends nothing: after IDLE seconds it is asked TRIES times, every PAUSE seconds; 30 s in all. */
enum { IDLE = 15, PAUSE = 5, TRIES = 3 };

/* A socket that programs which this process starts do not inherit; -1 when there is none. */
static int tether_socket(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd >= 0) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  return fd;
}

/* The addresses of this machine; the one that only itself can reach counts where there is no other. */
static void find_addresses(NsTetherPlace *place) {
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) != 0) return;
  for (int local = 0; local < 2 && place->count == 0; local++)
    for (const struct ifaddrs *one = all; one && place->count < NS_TETHER_ADDRESSES; one = one->ifa_next) {
      struct sockaddr_in in;
      if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
      memcpy(&in, one->ifa_addr, sizeof in);
      bool is_local = ntohl(in.sin_addr.s_addr) >> 24 == 127;
      if (is_local == local) place->address[place->count++] = in.sin_addr.s_addr;
    }
  freeifaddrs(all);
}

void ns_tether_open(NsTetherPlace *place, int most) {
  struct sockaddr_in in = {.sin_family = AF_INET};
  socklen_t size = sizeof in;
  *place = (NsTetherPlace){.port = 0};
  int fd = tether_socket();
  if (fd < 0) return;
  if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, most) != 0 ||
      getsockname(fd, (struct sockaddr *)&in, &size) != 0) {
    close(fd);
    return;
  }
  place->port = in.sin_port;
  find_addresses(place);
}

/* Notices the loss of the other machine, too. */
static void keep_alive(int fd) {
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
#ifdef TCP_KEEPIDLE
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){IDLE}, sizeof(int));
#endif
#ifdef TCP_KEEPINTVL
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){PAUSE}, sizeof(int));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){TRIES}, sizeof(int));
#endif
}

/* Begins to connect to an address; -1 when that fails at once. */
static int begin_tie(uint32_t address, uint16_t port) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = address};
  int fd = tether_socket();
  if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof in) == 0 || errno == EINPROGRESS) return fd;
  close(fd);
  return -1;
}

/* Whether a connection has come about; one that has failed is closed. */
static bool tether_is_tied(struct pollfd *entry) {
  int error = 0;
  socklen_t size = sizeof error;
  if (entry->fd < 0 || !entry->revents) return false;
  if (getsockopt(entry->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) return true;
  close(entry->fd);
  entry->fd = -1;
  return false;
}

int ns_tether_tie(const NsTetherPlace *place, double seconds) {
  struct pollfd entries[NS_TETHER_ADDRESSES];
  int tied = -1, left = 0, count = place->port ? place->count : 0;
  for (int i = 0; i < count; i++) {
    entries[i] = (struct pollfd){begin_tie(place->address[i], place->port), POLLOUT, 0};
    left += entries[i].fd >= 0;
  }
  while (tied < 0 && left > 0 && poll(entries, (nfds_t)count, (int)ceil(1e3 * seconds)) > 0) {
    left = 0;
    for (int i = 0; i < count; i++) {
      if (tied < 0 && tether_is_tied(&entries[i])) tied = i;
      left += entries[i].fd >= 0;
    }
  }
  for (int i = 0; i < count; i++)
    if (i != tied && entries[i].fd >= 0) close(entries[i].fd);
  if (tied < 0) return -1;
  keep_alive(entries[tied].fd);
  return entries[tied].fd;
}

bool ns_tether_broken(int tether) {
  char byte;
  if (tether < 0) return false;
  ssize_t got = recv(tether, &byte, 1, MSG_PEEK);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}
