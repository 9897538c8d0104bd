/*
 * Set-up of a communicator's sockets in the TCP plugin. The listening end's handle has the number of sockets, and the
 * connecting end opens one after the other. Each socket begins with a greeting that names its connection and its index.
 *
 * Any host can connect to a listener's port. A client that sends no greeting doesn't delay other clients: several
 * greetings are read in parallel, each with a time limit. If there are too many clients without a greeting, the one
 * that has been silent longest is evicted. A greeting carries a number from the handle, so that only holders of the
 * handle can connect.
 */
#ifndef TCP_SOCKETS_H
#define TCP_SOCKETS_H

#include <stdint.h>

#define TCP_MOST_THREADS 16
#define TCP_MOST_SOCKETS 64 /* NCCL's socket transport has the same limits for threads and sockets */
/* maximum number of accepted sockets whose greeting isn't complete */
#define TCP_MOST_PENDING 64
#define TCP_GREETING_SECONDS 30

/* Sockets of one communicator. */
struct tcp_sockets {
  int threads; /* number of helper threads; without helper threads, the control socket carries everything */
  int count;   /* number of data sockets, of all threads together */
  int control;
  int data[TCP_MOST_SOCKETS]; /* -1 if there is no socket */
  /* The remaining fields are used while the sockets are being opened. */
  int there; /* number of open sockets, control and data */
  uint64_t connection;
  struct tcp_sockets *next; /* next connection that arrives at the same listener */
};

struct tcp_listener;

/* These functions log an error and return an ncclResult_t. */
int tcp_listen(void *handle, struct tcp_listener **);

/* The caller repeats these two until they return sockets or an error. */
int tcp_connect(void *handle, struct tcp_sockets **);
int tcp_accept(struct tcp_listener *, struct tcp_sockets **);

void tcp_close_listener(struct tcp_listener *);
void tcp_close_sockets(struct tcp_sockets *);

#endif
