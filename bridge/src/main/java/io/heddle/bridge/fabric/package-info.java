/**
 * The bridge's ports in fabrics. {@link io.heddle.bridge.fabric.FabricPort} is the common
 * interface. {@link io.heddle.bridge.fabric.WireFabric} reaches RoCEv2 over one UDP socket of both
 * families; {@link io.heddle.bridge.fabric.VerbsFabric} uses datagram queue pairs of a libibverbs
 * port, on Ethernet or InfiniBand.
 *
 * <p>Threads: the control thread opens, joins, leaves and closes; everything else belongs to the
 * data thread. Memory: buffers and addresses of a fabric live as long as the fabric.
 */
@NullMarked
package io.heddle.bridge.fabric;

import org.jspecify.annotations.NullMarked;
