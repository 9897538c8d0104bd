package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * Source and destination of a packet, as one of the two fabrics addresses them.
 *
 * @param source source address in that fabric
 * @param destination destination address in that fabric
 */
record HostPair(Gid source, Gid destination) {}
