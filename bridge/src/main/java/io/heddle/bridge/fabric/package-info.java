/**
 * The bridge's ends in fabrics. {@link io.heddle.bridge.fabric.FabricPort} is the seam; {@link
 * io.heddle.bridge.fabric.WireFabric} reaches RoCEv2 over one UDP socket of both families, {@link
 * io.heddle.bridge.fabric.VerbsFabric} by a datagram queue pair of a libibverbs port, on Ethernet
 * or InfiniBand.
 *
 * <p>Threads: opening, joining, leaving and closing are the control thread's, everything else the
 * data thread's. Memory: buffers and addresses of a fabric live as long as it.
 */
@NullMarked
package io.heddle.bridge.fabric;

import org.jspecify.annotations.NullMarked;
