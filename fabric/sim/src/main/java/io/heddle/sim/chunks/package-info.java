/**
 * The first level: every chunk goes through the shipped {@link io.heddle.spray.SprayPolicy} of its
 * connection and through the queue of each link of its path. {@link
 * io.heddle.sim.chunks.ChunkSimulation} is the way in. One thread; virtual time only.
 */
@NullMarked
package io.heddle.sim.chunks;

import org.jspecify.annotations.NullMarked;
