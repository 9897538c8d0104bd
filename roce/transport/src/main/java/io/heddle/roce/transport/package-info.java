/**
 * Shared parts of both halves of the reliable connection: work queues ({@code SendQueue}, {@code
 * ReceiveQueue}), registered memory ({@code RegionTable}, {@code MemoryRights}), packet memory
 * ({@code PacketMemory}, {@code TransmitRing}) and counters. A queue pair's owner implements two
 * interfaces: {@code PacketOutlet} sends packets, {@code QueuePairEvents} takes completions,
 * failures and timers.
 *
 * <p>The owner is the soft device; in tests, a pair of queue pairs in virtual time ({@code
 * VirtualPair}), since nothing here has a socket, a thread or a clock.
 *
 * <p>Threads: all state belongs to the holder of the owner's lock; times are arguments. Posting
 * threads reach this state through the two queues. Any thread may read counters.
 *
 * <p>Memory: the owner allocates zeroed queues and tables and passes their addresses; they take no
 * pages until touched. Tables on the heap grow when more is outstanding than ever before; nothing
 * else is allocated.
 */
@NullMarked
package io.heddle.roce.transport;

import org.jspecify.annotations.NullMarked;
