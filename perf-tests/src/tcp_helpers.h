/*
 * Helper threads of a communicator of the TCP plugin, and the data sockets that they share. A message is cut into tasks
 * of 64 KiB, or, if that would be more than one per socket, into one task per socket. Tasks go to the sockets in turn.
 * Both ends cut messages by the same rule and begin with the same socket, so they need to agree only on a message's
 * size.
 *
 * Each thread has its own sockets and serves one after the other. It yields after a pass in which no socket sent or
 * received a byte, and sleeps while there is no task.
 */
#ifndef TCP_HELPERS_H
#define TCP_HELPERS_H

#include <stdatomic.h>
#include <stddef.h>

#include "tcp_sockets.h"

struct tcp_helpers;

/*
 * Creates the helpers of a communicator. Returns NULL if there is no memory. The sockets belong to the caller, who must
 * keep them open until the threads have ended.
 */
struct tcp_helpers *tcp_helpers_of(const struct tcp_sockets *, int sending);

/*
 * Takes ownership of a message. `left` is the number of the message's unfinished tasks: when it is 0, the threads
 * access neither `left` nor the data any more. The threads start with the first message, and so inherit the processors
 * of its caller. Returns an ncclResult_t. At most TCP_REQUESTS messages may be in flight.
 */
int tcp_helpers_submit(struct tcp_helpers *, char *data, size_t size, atomic_int *left);

/* Returns whether the other end is gone. */
int tcp_helpers_failed(const struct tcp_helpers *);

/* Ends the threads, in spite of messages in flight, and waits for their end. */
void tcp_helpers_end(struct tcp_helpers *);

#endif
