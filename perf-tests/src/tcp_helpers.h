/*
 * Helper threads of a communicator of the TCP plugin, and the data sockets that they share. A message is cut into tasks of
 * 64 KiB or, where that is more than one a socket, of its size by the number of sockets; tasks go to the sockets in turns.
 * Both ends cut alike and begin with the same socket, so that nothing but a message's size has to be agreed on.
 *
 * A thread has its own sockets, moves what it can of one after the other, gives way to other threads where none moves, and
 * waits for a condition when there is no task.
 */
#ifndef TCP_HELPERS_H
#define TCP_HELPERS_H

#include <stdatomic.h>
#include <stddef.h>

#include "tcp_sockets.h"

struct tcp_helpers;

/* NULL without memory. The sockets stay the caller's, and open until the end of the threads. */
struct tcp_helpers *tcp_helpers_of(const struct tcp_sockets *, int sending);

/*
 * Takes a message over. `left` is the number of its tasks that aren't done: when it is 0, nothing touches it or the data any
 * more. The threads begin with the first message, and so on the processors that its caller keeps to.
 * Returns an ncclResult_t. At most TCP_REQUESTS messages may be under way.
 */
int tcp_helpers_take(struct tcp_helpers *, char *data, size_t size, atomic_int *left);

/* Whether the other end is gone. */
int tcp_helpers_failed(const struct tcp_helpers *);

/* Waits for the threads' end, whatever is under way. */
void tcp_helpers_end(struct tcp_helpers *);

#endif
