package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;

/**
 * Both ends of a packet, as one of the fabrics sees them.
 *
 * @param source that it comes from there
 * @param destination that it goes to there
 */
record Hosts(Gid source, Gid destination) {}
