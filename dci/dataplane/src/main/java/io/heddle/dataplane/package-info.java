/**
 * What a gateway between data centre and WAN does with packets: {@link
 * io.heddle.dataplane.DataPlane} is the seam between those who decide and those who forward. {@code
 * bpf} forwards by a program on the LAN's ingress; {@code route} gives the kernel the SRv6 routes
 * that the program's marks choose. {@link io.heddle.dataplane.FlowHash} computes in Java what the
 * program computes for each packet.
 *
 * <p>Owns no thread. A data plane is its caller's alone.
 */
@NullMarked
package io.heddle.dataplane;

import org.jspecify.annotations.NullMarked;
