/**
 * Network interfaces and addresses of this host, their states, and the plane of each address.
 *
 * <p>Everything comes from the kernel by rtnetlink. {@link io.heddle.addr.HostAddresses} is one
 * snapshot; {@link io.heddle.addr.AddressWatcher} reports later changes. {@link
 * io.heddle.addr.PlaneDiscovery} turns a snapshot and the operator's {@code HEDDLE_PLANES} into
 * planes, and gives the reason why each other address isn't used.
 *
 * <p>The package has no thread of its own. A watcher runs on its caller's thread, {@code
 * heddle-addresses} of transport-core. Used by soft-device (GIDs), transport-core (planes) and the
 * tools.
 */
@NullMarked
package io.heddle.addr;

import org.jspecify.annotations.NullMarked;
