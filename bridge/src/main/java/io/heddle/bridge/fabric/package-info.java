/**
 * The bridge's ports in fabrics. {@link io.heddle.bridge.fabric.FabricPort} is the common
 * interface. {@link io.heddle.bridge.fabric.WireFabric} reaches RoCEv2 over one UDP socket for IPv4
 * and IPv6; {@link io.heddle.bridge.fabric.VerbsFabric} uses datagram queue pairs of a libibverbs
 * port, on Ethernet or InfiniBand.
 *
 * <p>Threads: the data thread polls and sends; the control path does the rest. Memory: the buffers
 * of a port live as long as the port.
 */
@NullMarked
package io.heddle.bridge.fabric;

import org.jspecify.annotations.NullMarked;
