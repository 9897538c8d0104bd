/**
 * Datagrams for one host of the other fabric: pairs of hosts that talk, and the management
 * datagrams by which a client asks for the number of a service's queue pair. The bridge owns queue
 * pair 1 of every address behind it, so numbers and addresses stay as they are. Where a fabric is
 * behind a device, it owns some queue pairs there, and numbers are mapped. Packets of InfiniBand
 * name no hosts, so those are known by their ports there.
 *
 * <p>Everything here is the data thread's.
 */
@NullMarked
package io.heddle.bridge.unicast;

import org.jspecify.annotations.NullMarked;
