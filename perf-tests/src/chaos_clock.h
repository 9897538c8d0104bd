/* The process's own wall clock, which can be stepped; the host's, and the monotonic one, stay as they are. */
#ifndef HEDDLE_CHAOS_CLOCK_H
#define HEDDLE_CHAOS_CLOCK_H

/* From now on the wall clock is so far from the host's. */
void chaos_step_clock(long seconds);

#endif
