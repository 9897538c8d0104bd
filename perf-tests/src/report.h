/* Clock, exit codes, checks and the hang watch that the programs share. */
#ifndef HEDDLE_REPORT_H
#define HEDDLE_REPORT_H

#include <stdint.h>

enum { EXIT_WRONG_DATA = 1, EXIT_BAD_USAGE = 2, EXIT_PLUGIN_ERROR = 3, EXIT_TIMED_OUT = 4 };

/* Returns the monotonic time in seconds. */
double now_seconds(void);

/* Prints a message and ends the process at once, without clean-up. */
_Noreturn void fail_with(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the process with EXIT_PLUGIN_ERROR unless the result is 0. */
void check(int result, const char *call);

/* Ends the process with EXIT_BAD_USAGE unless text is a whole number within bounds. */
int64_t whole_number(const char *option, const char *text, int64_t least, int64_t most);

/*
 * Starts the watch: a thread that ends the process with EXIT_TIMED_OUT if progress() is not called for that long. Call
 * this once.
 */
void watch_for_hang(double timeout_seconds);

/* Pauses the watch with 1 and resumes it with 0. For waits of any length, such as for an order on standard input. */
void pause_watch(int paused);

/* Records progress. This is cheap, so call it at every step. */
void progress(void);

#endif
