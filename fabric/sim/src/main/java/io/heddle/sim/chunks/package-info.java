/**
 * The first level of the simulation. Every chunk passes the shipped {@link
 * io.heddle.spray.SprayPolicy} of its connection, and the queue of each link of its path. {@link
 * io.heddle.sim.chunks.ChunkSimulation} is the entry point. Runs on one thread, in virtual time.
 */
@NullMarked
package io.heddle.sim.chunks;

import org.jspecify.annotations.NullMarked;
