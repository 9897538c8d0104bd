package io.heddle.dataplane.route;

/**
 * Rule that routes packets with this mark by this table ({@code ip rule add fwmark MARK/MASK lookup
 * TABLE}).
 *
 * @param ipv6 whether it is for IPv6 packets; otherwise for IPv4
 * @param preference lower ones take precedence
 */
public record MarkRule(boolean ipv6, int mark, int mask, int table, int preference) {}
