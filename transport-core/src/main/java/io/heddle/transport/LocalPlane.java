package io.heddle.transport;

import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;

/**
 * A plane as a device of this host has it.
 *
 * @param key what both ends call it
 * @param mtu the largest that the address's interface carries
 * @param interfaceName for people
 */
record LocalPlane(String key, Gid gid, PathMtu mtu, String interfaceName) {}
