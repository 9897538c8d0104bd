package io.heddle.bridge;

import io.heddle.bridge.redundancy.ForwardingGate;

/**
 * Bridged group with the gate that decides which of its packets this bridge forwards.
 *
 * @param group the bridged group
 * @param gate this bridge's gate for the group
 */
record GatedGroup(BridgedGroup group, ForwardingGate gate) {}
