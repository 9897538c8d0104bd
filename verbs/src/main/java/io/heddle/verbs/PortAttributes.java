package io.heddle.verbs;

/**
 * State of a device's port.
 *
 * @param active whether traffic can flow
 * @param number port number, from 1
 * @param activeMtu the largest path MTU that the port can carry now
 * @param speedBitsPerSecond what the link below can carry at most
 */
public record PortAttributes(
    boolean active, int number, PathMtu activeMtu, long speedBitsPerSecond) {}
