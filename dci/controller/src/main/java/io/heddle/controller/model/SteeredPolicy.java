package io.heddle.controller.model;

/**
 * SRv6 policy of a gateway, whose flows may be moved between its lists.
 *
 * @param name name of the policy, unique in a snapshot
 * @param sampledNs time of the gateway's last report of flows
 */
public record SteeredPolicy(String name, String gateway, long sampledNs) {}
