/* A wall clock of this process that can be stepped. The host's wall clock and the monotonic clock stay unchanged. */
#ifndef HEDDLE_CHAOS_CLOCK_H
#define HEDDLE_CHAOS_CLOCK_H

/* Sets the offset of this process's wall clock from the host's. */
void chaos_step_clock(long seconds);

#endif
