/**
 * Unicast datagrams between the fabrics: communicating pairs of hosts, and the management datagrams
 * that request the number of a service's queue pair. On the wire (RoCEv2 over a UDP socket) the
 * bridge owns queue pair 1 of every address behind it, so numbers and addresses can stay unchanged.
 * On a libibverbs device it owns some queue pairs, and numbers are mapped. Packets on InfiniBand
 * contain no hosts' addresses, so hosts are identified by their ports.
 *
 * <p>Everything in this package belongs to the data thread.
 */
@NullMarked
package io.heddle.bridge.unicast;

import org.jspecify.annotations.NullMarked;
