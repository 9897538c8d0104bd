/**
 * Port of the bridge in a fabric, as the forwarding sees it. {@link
 * io.heddle.bridge.fabric.FabricPort} is the control side, {@link
 * io.heddle.bridge.fabric.PacketPort} the data side. Packages {@code wire} and {@code verbs}
 * implement both; what they share of sockets and clocks is here.
 */
@NullMarked
package io.heddle.bridge.fabric;

import org.jspecify.annotations.NullMarked;
