/**
 * Several bridges between the same two fabrics: what they tell each other by beacons, who of them
 * is there, and which of them owns a group. Docs/decisions/0052 is the protocol, and {@code
 * bridge/src/model/ownership.pml} its model.
 *
 * <p>Nothing here has a socket, a thread or a clock: beacons and times are handed in. Control path
 * only; the caller is one thread, or has a lock.
 */
@NullMarked
package io.heddle.bridge.peer;

import org.jspecify.annotations.NullMarked;
