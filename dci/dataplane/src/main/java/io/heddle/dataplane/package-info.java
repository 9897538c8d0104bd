/**
 * Forwarding of a gateway between data centre and WAN. {@link io.heddle.dataplane.DataPlane} is the
 * interface between control and forwarding. Package {@code bpf} implements it by a BPF program on
 * the LAN interfaces' ingress, {@code nft} by nftables rules. Package {@code route} installs the
 * SRv6 routes that the packets' marks select. {@link io.heddle.dataplane.FlowHash} computes in Java
 * the hash that the BPF program computes for each packet.
 *
 * <p>The package has no thread of its own. A data plane has one caller at a time.
 */
@NullMarked
package io.heddle.dataplane;

import org.jspecify.annotations.NullMarked;
