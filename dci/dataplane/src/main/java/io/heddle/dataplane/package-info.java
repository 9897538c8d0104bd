/**
 * Forwarding of a gateway between data centre and WAN. {@link io.heddle.dataplane.DataPlane} is the
 * interface between control and forwarding. {@code bpf} forwards by a program on the LAN's ingress;
 * {@code nft} by rules of nftables; {@code route} installs the SRv6 routes that the packets' marks
 * select. {@link io.heddle.dataplane.FlowHash} computes in Java the hash that the program computes
 * for each packet.
 *
 * <p>Owns no thread. A data plane has one caller at a time.
 */
@NullMarked
package io.heddle.dataplane;

import org.jspecify.annotations.NullMarked;
