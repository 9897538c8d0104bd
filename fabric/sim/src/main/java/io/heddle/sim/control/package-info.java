/**
 * Simulation of the control plane's size. A few network cards have the route daemon's real table,
 * which receives the messages that the cards' leaves would send. The routes of all other cards are
 * only counted.
 */
@NullMarked
package io.heddle.sim.control;

import org.jspecify.annotations.NullMarked;
