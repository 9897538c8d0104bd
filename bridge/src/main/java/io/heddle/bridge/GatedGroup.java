package io.heddle.bridge;

/**
 * Group, and the gate that decides which of its packets this bridge forwards.
 *
 * @param group in operation
 * @param gate of this bridge
 */
record GatedGroup(BridgedGroup group, ForwardingGate gate) {}
