/*
 * Set-up of a communicator's sockets in the TCP plugin. The listening end's handle has their number; the connecting
 * end opens them one after the other. Each begins with a greeting that names its connection and its index.
 *
 * Any host can connect to a listener's port. A client without a greeting delays no other: several greetings are read
 * in parallel, each with a time limit, and the longest silent one is evicted if there are too many. A greeting
 * carries a number from the handle, so that only holders of the handle can connect.
 */
#ifndef TCP_SOCKETS_H
#define TCP_SOCKETS_H

#include <stdint.h>

#define TCP_MOST_THREADS 16
#define TCP_MOST_SOCKETS 64 /* the limit of NCCL's socket transport, also for threads */
#define TCP_MOST_GUESTS 64  /* whose greeting is awaited; all but one of a peer's sockets have greeted */
#define TCP_GREETING_SECONDS 30

/* One communicator's. */
struct tcp_sockets {
  int threads; /* helper threads; without any, the control socket carries everything */
  int count;   /* data sockets, of all threads together */
  int control;
  int data[TCP_MOST_SOCKETS]; /* -1 if there is none */
  /* While they are being opened: */
  int there; /* of control and data sockets */
  uint64_t connection;
  struct tcp_sockets *next; /* that come to the same listener */
};

struct tcp_listener;

/* They return an ncclResult_t, and log the error. */
int tcp_listen(void *handle, struct tcp_listener **);

/* Called repeatedly until there are sockets, or an error. */
int tcp_connect(void *handle, struct tcp_sockets **);
int tcp_accept(struct tcp_listener *, struct tcp_sockets **);

void tcp_close_listener(struct tcp_listener *);
void tcp_close_sockets(struct tcp_sockets *);

#endif
