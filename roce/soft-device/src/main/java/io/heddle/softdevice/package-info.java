/**
 * User-space RoCEv2 device over UDP: the reliable connection with SEND, RDMA WRITE and READ. It is
 * accessed only through the provider look-up: {@link io.heddle.softdevice.SoftProvider}.
 *
 * <p>Each sub-package uses only those to its left: {@code io}, {@code faults}, {@code queue}.
 * Reading order, in {@code queue}: {@code SoftContext} is the open device and its control path.
 * {@code Engine} runs rounds of progress: packets pass from {@code ReceiveSockets} through {@code
 * PacketDispatcher} and its {@code PacketGate} to a {@code SoftQueuePair}; {@code SendStage} sends
 * the queue pairs' packets. The protocol is each queue pair's {@code ReliableConnection}, in
 * roce/transport. It sends through the queue pair's {@code SocketOutlet} and reports completions
 * and failures to {@code SoftQueuePair}.
 *
 * <p>Threads: any thread may make progress, one at a time, under {@code ProgressLock}, on which the
 * data path never waits. Posting threads reach the lock holder through {@code SendQueue}, {@code
 * ReceiveQueue} and {@code Doorbells}; completions go to the polling thread through {@code
 * SoftCompletionQueue}, events to the control thread as {@code AsyncEvent}. Without polling
 * callers, {@code ProgressThread}, which sleeps in epoll, makes progress. The control path holds
 * the context's monitor, then the lock.
 *
 * <p>Memory: a queue pair maps its transmit ring (4 MiB of addresses; only touched pages take
 * memory), and the context's arena has the receive buffers; both are freed with their owner. User
 * memory is accessed only under the lock and after a check of its key, so a closed region is never
 * read or written.
 */
@NullMarked
package io.heddle.softdevice;

import org.jspecify.annotations.NullMarked;
