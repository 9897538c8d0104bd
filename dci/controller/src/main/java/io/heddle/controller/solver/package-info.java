/**
 * Decides which flows go to which segment lists. {@link io.heddle.controller.solver.Solver} has the
 * memory between rounds; {@code MovePlanner} and {@code Loads} compute. No I/O, no clock, no
 * thread: time comes with the snapshot.
 */
@NullMarked
package io.heddle.controller.solver;

import org.jspecify.annotations.NullMarked;
