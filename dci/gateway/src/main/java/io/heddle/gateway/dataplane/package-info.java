/**
 * Forwarding of a gateway between data centre and WAN. {@link
 * io.heddle.gateway.dataplane.DataPlane} is a BPF program on the LAN interfaces' ingress ({@code
 * src/main/c/gateway.bpf.c}). {@link io.heddle.gateway.dataplane.FlowHash} computes in Java the
 * hash that the program computes for each packet. Package {@code route} has the SRv6 routes that
 * the packets' marks select.
 *
 * <p>The package has no thread of its own. A data plane has one caller at a time.
 */
@NullMarked
package io.heddle.gateway.dataplane;

import org.jspecify.annotations.NullMarked;
