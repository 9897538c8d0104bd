/**
 * Unicast datagrams between the fabrics: communicating pairs of hosts, and the management datagrams
 * that request the number of a service's queue pair. On the wire the bridge owns queue pair 1 of
 * every address behind it, so numbers and addresses stay unchanged. On a device it owns some queue
 * pairs, and numbers are mapped. Packets of InfiniBand name no hosts, so hosts are identified by
 * their ports there.
 *
 * <p>Everything here belongs to the data thread.
 */
@NullMarked
package io.heddle.bridge.unicast;

import org.jspecify.annotations.NullMarked;
