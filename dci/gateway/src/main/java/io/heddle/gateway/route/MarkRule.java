package io.heddle.gateway.route;

/**
 * Policy-routing rule by which packets with this mark use this routing table ({@code ip rule add
 * fwmark MARK/MASK lookup TABLE}).
 *
 * @param ipv6 whether the rule is for IPv6 packets; otherwise it is for IPv4
 * @param preference priority of the rule; a lower number takes precedence
 */
public record MarkRule(boolean ipv6, int mark, int mask, int table, int preference) {}
