/**
 * NCCL's one-sided interface: groups of ranks that write to and read from each other's registered
 * memory. A group has peers, connected when they are first needed, registrations and contexts; the
 * data path of each peer is {@link io.heddle.transport.data.PeerPuts} at the one end and {@link
 * io.heddle.transport.data.PeerSignals} at the other.
 */
@NullMarked
package io.heddle.transport.onesided;

import org.jspecify.annotations.NullMarked;
