package io.heddle.controller.model;

/**
 * An SRv6 policy of a gateway, whose flows may be moved among its lists.
 *
 * @param name of it alone in a snapshot
 * @param sampledNs when its gateway last reported flows
 */
public record SteeredPolicy(String name, String gateway, long sampledNs) {}
