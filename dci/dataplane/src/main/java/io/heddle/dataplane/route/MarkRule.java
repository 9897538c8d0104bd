package io.heddle.dataplane.route;

/**
 * Packets with this mark are routed by this table ({@code ip rule add fwmark MARK/MASK lookup
 * TABLE}).
 *
 * @param ipv6 whether it is for IPv6 packets, or else for IPv4's
 * @param preference lower ones are asked first
 */
public record MarkRule(boolean ipv6, int mark, int mask, int table, int preference) {}
