/**
 * How much may be under way, and when something is sent again: {@code SendWindow}, {@code
 * RoundTrip}, {@code RetryTimer}, {@code ReceiverNotReady}; {@code WidePathProbe} for how wide
 * packets may be. Each is a rule that takes times and counts as arguments and knows nothing of
 * packets.
 *
 * <p>Threads: the holder of the owner's lock. Memory: a few fields each, nothing is allocated.
 */
@NullMarked
package io.heddle.roce.transport.window;

import org.jspecify.annotations.NullMarked;
