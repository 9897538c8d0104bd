/**
 * What both halves of the reliable connection share: posted work ({@code SendQueue}, {@code
 * ReceiveQueue}), memory and who may touch it ({@code RegionTable}, {@code MemoryRights}), the
 * memory that packets are made in ({@code PacketMemory}, {@code TransmitRing}), what is counted.
 * And the two seams to the owner of a queue pair: packets leave by its {@code PacketOutlet}, and it
 * hears of completions, failure and times by its {@code QueuePairEvents}.
 *
 * <p>The owner is the soft device. Nothing here has a socket, a thread or a clock, so a simulated
 * fabric can be the owner as well.
 *
 * <p>Threads: all of it belongs to the holder of one lock, the owner's; a time comes as an
 * argument. Posting threads reach that one by the two queues. Counters are read by any thread.
 *
 * <p>Memory: the owner's, by address: queues and tables in zeros that cost nothing before they are
 * used. Tables on the heap grow where more is under way than ever before; nothing else is
 * allocated.
 */
@NullMarked
package io.heddle.roce.transport;

import org.jspecify.annotations.NullMarked;
