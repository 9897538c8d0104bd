/**
 * Size of the control plane: real tables of routes for a few network cards, fed as their leaves
 * would feed them, and counts for all others.
 */
@NullMarked
package io.heddle.sim.control;

import org.jspecify.annotations.NullMarked;
