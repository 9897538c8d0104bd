/**
 * Window and retransmission policies: {@code SendWindow}, {@code RoundTrip}, {@code RetryTimer},
 * {@code ReceiverNotReady}, {@code ReorderingDelay}; {@code WidePathProbe} and {@code TrainPath}
 * for packet and train sizes. Each takes times and counts as arguments and doesn't handle packets.
 *
 * <p>Threads: only the holder of the owner's lock. Memory: each object has a few fields, and
 * nothing else is allocated.
 */
@NullMarked
package io.heddle.roce.transport.window;

import org.jspecify.annotations.NullMarked;
