/*
** tether.h
** A tie between processes, also of different machines of a network: the one learns at once that the other has ended, however
** that happened and whatever it was doing. It is a TCP connection that carries nothing.
*/
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NS_TETHER_ADDRESSES = 16 };

/* Where a process can be tied to: its port and the IPv4 addresses of its machine, in the byte order of the network. */
typedef struct NsTetherPlace {
  uint16_t port; /* 0: nowhere */
  uint16_t count;
  uint32_t address[NS_TETHER_ADDRESSES];
} NsTetherPlace;

/* Opens a place of this process, to which up to `most` others can be tied; it lasts as long as the process. */
void ns_tether_open(NsTetherPlace *place, int most);

/*
** Ties this process to another one. Returns a descriptor, or -1 where no connection comes about within `seconds`, as behind
** a firewall.
*/
int ns_tether_tie(const NsTetherPlace *place, double seconds);

/* Whether the process at the other side has ended; of a machine that is lost this is known after half a minute. */
bool ns_tether_broken(int tether);
