/**
 * Port of the bridge in a fabric, as the forwarding sees it: {@link
 * io.heddle.bridge.fabric.FabricPort} and the values that pass through it. Packages {@code wire}
 * and {@code verbs} implement it; what both need of sockets and clocks is here.
 */
@NullMarked
package io.heddle.bridge.fabric;

import org.jspecify.annotations.NullMarked;
