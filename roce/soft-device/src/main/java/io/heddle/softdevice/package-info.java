/**
 * A user-space RoCEv2 device over UDP: the reliable connection with SEND, RDMA WRITE and READ.
 * Reached through the provider look-up only.
 *
 * <p>To read it: {@code SoftContext} is the opened device and its control path; {@code Engine}
 * makes one round of progress, in which packets come from {@code ReceiveSockets} through a {@code
 * PacketGate} to a {@code SoftQueuePair}, and what queue pairs send leaves by {@code Departures}.
 * The protocol is the {@code ReliableConnection} of each queue pair, in roce/transport. It sends by
 * the queue pair's {@code PacketExit}, and tells {@code SoftQueuePair} of completions and failures.
 *
 * <p>Threads: any thread may make progress, one at a time, under {@code ProgressLock}, which nobody
 * on the data path waits for. Posting threads reach the lock holder through {@code SendQueue},
 * {@code ReceiveQueue} and {@code Doorbells}; completions go to the polling thread through {@code
 * SoftCompletionQueue}, events to the control thread as {@code AsyncEvent}. Where no caller makes
 * progress, {@code ProgressThread}, which sleeps in epoll, does. The control path holds the
 * context's monitor, then the lock.
 *
 * <p>Memory: a queue pair maps its transmit ring (4 MiB of addresses, of which only touched pages
 * cost), the context's arena holds the receive buffers; both end with their owner. User memory is
 * touched under the lock only and after its key was checked, so a closed region is never read or
 * written.
 */
@NullMarked
package io.heddle.softdevice;

import org.jspecify.annotations.NullMarked;
