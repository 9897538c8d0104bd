/* Rendezvous of the processes of one run: files in a shared folder, each written atomically under its name. */
#ifndef HEDDLE_RENDEZVOUS_H
#define HEDDLE_RENDEZVOUS_H

#include <stddef.h>

/* Puts `size` bytes under `folder`/`name`.`rank`. Returns 0, or -1 after a message on standard error. */
int rendezvous_put(const char *folder, const char *name, int rank, const void *bytes, size_t size);

/* Waits for a file that another rank puts. Returns 0, or -1 if the file did not appear in time. */
int rendezvous_get(const char *folder, const char *name, int rank, void *bytes, size_t size, double timeout_seconds);

#endif
