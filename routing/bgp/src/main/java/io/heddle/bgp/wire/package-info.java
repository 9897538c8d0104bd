/**
 * Codec of BGP-4: five kinds of message, with their capabilities and path attributes. Unicast
 * routes, of which there may be very many, are numbers in arrays. Another address family is a
 * {@link io.heddle.bgp.wire.FamilyCodec} that a product supplies.
 *
 * <p>Owns no thread and no socket: everything here is a value, or a codec that one thread uses at a
 * time. A peer's faults are values too, never exceptions: {@link io.heddle.bgp.wire.MessageFault}
 * ends the session, {@link io.heddle.bgp.wire.AttributeFault} doesn't (RFC 7606). The session calls
 * the codecs; the routing table reads the results.
 */
@NullMarked
package io.heddle.bgp.wire;

import org.jspecify.annotations.NullMarked;
