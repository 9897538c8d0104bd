/*
 * How a communicator of the TCP plugin gets its sockets. The listening end says in its handle how many there are; the
 * connecting end opens them one after the other, and each begins with a greeting that says whose it is and which one.
 *
 * Anybody can call at a listener's port. Who waits there without a greeting holds up nobody: several are heard side by side,
 * each for a while, and the one that has been silent for longest makes room where there are too many. A greeting carries a
 * number from the handle, so that only who got that takes part.
 */
#ifndef TCP_SOCKETS_H
#define TCP_SOCKETS_H

#include <stdint.h>

#define TCP_MOST_THREADS 16
#define TCP_MOST_SOCKETS 64 /* as many as NCCL's socket transport takes, and of threads */
#define TCP_MOST_GUESTS 64  /* that are being heard; of a peer's sockets all but one have greeted */
#define TCP_GREETING_SECONDS 30

/* One communicator's. */
struct tcp_sockets {
  int threads; /* helper threads; without any the control socket alone carries everything */
  int count;   /* data sockets, of all threads together */
  int control;
  int data[TCP_MOST_SOCKETS]; /* -1 where there is none */
  /* While they are opened: */
  int there; /* of control and data sockets */
  uint64_t connection;
  struct tcp_sockets *next; /* that come to the same listener */
};

struct tcp_listener;

/* They return an ncclResult_t, and log what is wrong. */
int tcp_listen(void *handle, struct tcp_listener **);

/* To be asked until there are sockets, or an error. */
int tcp_connect(void *handle, struct tcp_sockets **);
int tcp_accept(struct tcp_listener *, struct tcp_sockets **);

void tcp_close_listener(struct tcp_listener *);
void tcp_close_sockets(struct tcp_sockets *);

#endif
