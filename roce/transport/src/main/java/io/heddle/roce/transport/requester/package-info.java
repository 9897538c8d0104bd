/**
 * Sending half of a queue pair. {@code TrainBuilder} builds trains in the transmit ring, {@code
 * SlotSender} sends them, and {@code Requester} processes acknowledgements. {@code Outstanding}
 * records unacknowledged and lost packets, {@code LostRun} finds the next retransmission and {@code
 * LinkScheduler} chooses its link. {@code SendTags} matches answers to transmissions, {@code
 * PeerGroup} detects a silent peer, and {@code PieceSender} splits packets that a path drops. Used
 * by {@code ReliableConnection}.
 *
 * <p>Threads: only the holder of the owner's lock; any thread may read {@code Requester}'s counts.
 * Memory: the owner's transmit ring, and tables on the heap that grow when more is outstanding than
 * ever before.
 */
@NullMarked
package io.heddle.roce.transport.requester;

import org.jspecify.annotations.NullMarked;
