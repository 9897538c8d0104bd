/**
 * The bytes of BGP-4: five kinds of message, their capabilities and path attributes, to values and
 * back. Routes of IPv6 unicast, of which there may be very many, are numbers side by side. Another
 * address family is a {@link io.heddle.bgp.wire.FamilyCodec} that a product brings.
 *
 * <p>Owns no thread and no socket: everything here is a value, or a codec that one thread uses at a
 * time. What a peer sent wrongly is a value too ({@link io.heddle.bgp.wire.MessageFault} where the
 * session can't go on, {@link io.heddle.bgp.wire.AttributeFault} where RFC 7606 lets it), never an
 * exception. The session calls in, the table of routes reads what came out.
 */
@NullMarked
package io.heddle.bgp.wire;

import org.jspecify.annotations.NullMarked;
