package io.heddle.gateway.config;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Segment list of a policy.
 *
 * @param id id of the list, 1 to 64. It must never be reused for another list: steers that outlive
 *     the process refer to it
 * @param policy name of the policy
 * @param weight share of the policy's hash buckets, relative to its other lists
 * @param segments segments in the order in which packets visit them
 * @param device outgoing interface to the first segment
 * @param via next hop to the first segment; null if a routing protocol installs the route
 */
public record ListConfig(
    int id,
    String name,
    String policy,
    int weight,
    List<Inet6Address> segments,
    String device,
    @Nullable InetAddress via) {}
