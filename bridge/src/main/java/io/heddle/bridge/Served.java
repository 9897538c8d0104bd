package io.heddle.bridge;

/**
 * A group, and whether this bridge forwards its packets now.
 *
 * @param group what is bridged
 * @param turn of this bridge
 */
record Served(BridgedGroup group, Turn turn) {}
