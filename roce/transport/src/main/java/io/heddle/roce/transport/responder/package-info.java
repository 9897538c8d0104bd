/**
 * Receiving half of a queue pair. {@code Responder} takes requests in order and completes them.
 * {@code WritePlacement} places WRITE payloads, {@code InboundMessage} receives multi-packet
 * messages, {@code WriteBatchReceiver} places many packets with one C call, {@code ArrivedPieces}
 * joins pieces, {@code ReadResponses} answers READs, and {@code Acknowledger} decides when to
 * acknowledge. Used by {@code ReliableConnection}.
 *
 * <p>Threads: only the holder of the owner's lock. Memory: tables that the owner allocates and
 * passes by address; user memory is accessed only after a check of its key. After construction,
 * only the first READ request allocates anything: tables on the heap.
 */
@NullMarked
package io.heddle.roce.transport.responder;

import org.jspecify.annotations.NullMarked;
