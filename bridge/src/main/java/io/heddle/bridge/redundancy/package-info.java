/**
 * Redundancy of this bridge among others: the thread and the sockets of beacons, operators' orders,
 * and the gates by which the data thread follows ownership. The protocol itself is in {@link
 * io.heddle.bridge.peer}, without socket, thread or clock.
 */
@NullMarked
package io.heddle.bridge.redundancy;

import org.jspecify.annotations.NullMarked;
