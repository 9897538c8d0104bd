/**
 * Redundancy of several bridges between the same two fabrics: their beacons, which of them are
 * alive, and which of them owns a group. docs/decisions/bridge.md specifies the protocol, and
 * {@code bridge/src/model/ownership.pml} is its model.
 *
 * <p>The package has no socket, thread or clock: callers pass in beacons and times. Control path
 * only; the caller is a single thread, or holds a lock.
 */
@NullMarked
package io.heddle.bridge.peer;

import org.jspecify.annotations.NullMarked;
