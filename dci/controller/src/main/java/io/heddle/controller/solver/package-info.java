/**
 * Solver: decides which flows go to which segment lists. {@link io.heddle.controller.solver.Solver}
 * keeps the memory between rounds; {@code MovePlanner} and {@code Loads} compute. It has no I/O,
 * clock or thread: time comes with the snapshot.
 */
@NullMarked
package io.heddle.controller.solver;

import org.jspecify.annotations.NullMarked;
