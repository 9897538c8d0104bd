/**
 * The sending half of a queue pair. {@code Requester} sends what {@code TrainBuilder} cut into the
 * transmit ring by {@code SlotSender} and takes acknowledgements, of which {@code Outstanding}
 * keeps the account; {@code LostRun} says what goes out again, {@code LinkLoads} by which link,
 * {@code SendTags} which sending an answer belongs to, {@code Companions} whether the peer is
 * there, {@code PacketPieces} what becomes of a packet that doesn't get through. Used by {@code
 * ReliableConnection}.
 *
 * <p>Threads: the holder of the owner's lock, but for the counts that {@code Requester} lets any
 * thread read. Memory: the transmit ring of the owner's; rows on the heap that grow where more is
 * under way than ever before.
 */
@NullMarked
package io.heddle.roce.transport.requester;

import org.jspecify.annotations.NullMarked;
