/* Declarations that the parts of the TCP plugin share. */
#ifndef TCP_PLUGIN_H
#define TCP_PLUGIN_H

#include <errno.h>
#include <sys/types.h>

#define TCP_REQUESTS 256       /* maximum number of requests in flight in a communicator */
#define TCP_PIECE (512 * 1024) /* maximum number of bytes that one system call sends or receives */

/* Logs the failed call, with the text for errno. Returns NCCL_SYSTEM_ERROR. */
int tcp_warn(const char *what);

/* Returns the monotonic time in seconds. */
double tcp_now(void);

/* Returns whether a call on a socket would block. */
static inline int would_block(ssize_t moved) {
  return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

#endif
