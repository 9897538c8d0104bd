/**
 * Which network interfaces and addresses this host has, what state they are in, and which plane
 * each address belongs to.
 *
 * <p>Everything comes from the kernel by rtnetlink: {@link io.heddle.addr.HostAddresses} is one
 * snapshot, {@link io.heddle.addr.AddressWatcher} tells what changed since, {@link
 * io.heddle.addr.PlaneDiscovery} turns a snapshot and the operator's {@code HEDDLE_PLANES} into
 * planes and says why each other address isn't used.
 *
 * <p>Owns no thread: a watcher is its caller's alone, {@code heddle-addresses} in transport-core.
 * Used by soft-device (GIDs), transport-core (planes) and the tools.
 */
@NullMarked
package io.heddle.addr;

import org.jspecify.annotations.NullMarked;
