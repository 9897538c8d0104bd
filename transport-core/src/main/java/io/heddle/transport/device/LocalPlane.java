package io.heddle.transport.device;

import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;

/**
 * A plane as a device of this host has it.
 *
 * @param key what both ends call it
 * @param ownKey what this host would call it without a route daemon
 * @param mtu the largest that the address's interface carries
 * @param interfaceName for people
 */
public record LocalPlane(String key, String ownKey, Gid gid, PathMtu mtu, String interfaceName) {}
