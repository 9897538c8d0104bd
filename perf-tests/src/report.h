/* Clock, exit codes and options that the programs share. */
#ifndef HEDDLE_REPORT_H
#define HEDDLE_REPORT_H

#include <stdint.h>

enum { EXIT_WRONG_DATA = 1, EXIT_BAD_USAGE = 2, EXIT_PLUGIN_ERROR = 3, EXIT_TIMED_OUT = 4 };

/* Returns the monotonic time in seconds. */
double now_seconds(void);

/* Ends the process at once, since a program whose plugin failed has nothing to clean up. */
_Noreturn void fail_with(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the process with EXIT_PLUGIN_ERROR unless the result is 0. */
void check(int result, const char *call);

/* Ends the process with EXIT_BAD_USAGE unless text is a whole number within bounds. */
int64_t whole_number(const char *option, const char *text, int64_t least, int64_t most);

/* Starts a thread that ends the process with EXIT_TIMED_OUT if progress() is not called for that long. Call it once. */
void watch_for_hang(double timeout_seconds);

/* With 1, the watch expects no progress until a call with 0: it is another contestant's turn. */
void pause_watch(int paused);

/* Records progress. This is cheap, so call it at every step. */
void progress(void);

#endif
