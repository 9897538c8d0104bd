/* The process's own wall clock, which can be stepped; the host's, and the monotonic one, stay unchanged. */
#ifndef HEDDLE_CHAOS_CLOCK_H
#define HEDDLE_CHAOS_CLOCK_H

/* Sets the wall clock's offset from the host's. */
void chaos_step_clock(long seconds);

#endif
