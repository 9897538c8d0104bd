/**
 * Network namespaces that act as switches with equal links. A tc BPF program
 * (src/main/c/switch.bpf.c) selects the link of each RoCEv2 packet, and the kernel forwards the
 * packet. One thread watches all switches of a lab ({@link io.heddle.tools.switching.SwitchWatch}).
 *
 * <p>Protocol packets always stay on the link of their flow's hash. Data packets are those with a 1
 * in the six reserved bits of BTH byte 4.
 */
@NullMarked
package io.heddle.tools.switching;

import org.jspecify.annotations.NullMarked;
