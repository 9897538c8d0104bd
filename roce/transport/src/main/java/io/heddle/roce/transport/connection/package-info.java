/**
 * The two halves of a queue pair as one: {@code ReliableConnection} is what an owner makes for each
 * queue pair, hands packets and times to, and lets send.
 *
 * <p>Threads: the holder of the owner's lock. Memory: see the packages of the halves.
 */
@NullMarked
package io.heddle.roce.transport.connection;

import org.jspecify.annotations.NullMarked;
