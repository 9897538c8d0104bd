package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * Source and destination of a packet, as one of the fabrics sees them.
 *
 * @param source of the packet there
 * @param destination of the packet there
 */
record HostPair(Gid source, Gid destination) {}
