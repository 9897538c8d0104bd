/**
 * The receiving half of a queue pair. {@code Responder} takes requests in their order and completes
 * them, {@code WritePlacement} places the payloads of WRITEs, {@code InboundMessage} does what
 * comes in messages of several packets, {@code WriteRows} takes rows by one call of C, {@code
 * ArrivedPieces} joins pieces, {@code ReadResponses} answers READs, and {@code Acknowledger} knows
 * when to acknowledge. Used by {@code ReliableConnection}.
 *
 * <p>Threads: the holder of the owner's lock. Memory: tables of the owner's, by address; user
 * memory is touched only after its key was checked. Nothing is allocated after the making.
 */
@NullMarked
package io.heddle.roce.transport.responder;

import org.jspecify.annotations.NullMarked;
