/**
 * Port in a RoCEv2 fabric with a UDP socket of the bridge's own, for IPv4 and IPv6. {@link
 * io.heddle.bridge.wire.WireFabric} opens it, and joins groups. Packets come and go as segment
 * trains. The bridge computes and checks their invariant CRCs.
 *
 * <p>Threads: the data thread polls and sends; the control path does the rest. Memory: the buffers
 * of a port live as long as the port.
 */
@NullMarked
package io.heddle.bridge.wire;

import org.jspecify.annotations.NullMarked;
