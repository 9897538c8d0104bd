/* Times of completed sends, for programs that measure gaps. */
#ifndef HEDDLE_COMPLETIONS_H
#define HEDDLE_COMPLETIONS_H

#include <stddef.h>

/* Records all later completions in memory. completions_write() writes them to this file. */
void completions_keep(const char *path);

/* Records a completed send of this length with the monotonic time; does nothing before completions_keep(). */
void completed(size_t bytes);

/* Writes a line "seconds bytes" for each completion. Ends the process if the file can't be written. */
void completions_write(void);

#endif
