/**
 * Solver, which decides which flows are moved to which segment lists. {@link
 * io.heddle.controller.solver.Solver} keeps the memory between rounds; {@code MovePlanner} and
 * {@code Loads} compute. The package has no I/O, clock or thread: snapshots contain the time.
 */
@NullMarked
package io.heddle.controller.solver;

import org.jspecify.annotations.NullMarked;
