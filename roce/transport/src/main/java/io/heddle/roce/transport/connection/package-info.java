/**
 * Both halves of a queue pair: an owner creates one {@code ReliableConnection} per queue pair,
 * passes it packets and times, and calls it to transmit.
 *
 * <p>Threads: only the holder of the owner's lock. Memory: see the packages of the halves.
 */
@NullMarked
package io.heddle.roce.transport.connection;

import org.jspecify.annotations.NullMarked;
