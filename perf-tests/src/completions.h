/* When sends were completed, for a program that wants to know how long nothing was. */
#ifndef HEDDLE_COMPLETIONS_H
#define HEDDLE_COMPLETIONS_H

#include <stddef.h>

/* Keeps completions from now on, to be written to this file at the end. */
void completions_keep(const char *path);

/* A send of this length is done: kept with the monotonic time, where completions are. */
void completed(size_t bytes);

/* A line for each, "seconds bytes". Ends the process where the file can't be written. */
void completions_write(void);

#endif
