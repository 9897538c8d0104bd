/**
 * NCCL's one-sided interface: groups of ranks that write to and read from each other's registered
 * memory. A group has registrations, contexts and peers, which are connected at their first use.
 * Each peer's data path is {@code OneSidedInitiator} at the initiator and {@code OneSidedTarget} at
 * the target.
 */
@NullMarked
package io.heddle.transport.onesided;

import org.jspecify.annotations.NullMarked;
