package io.heddle.gateway.config;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment list of a policy.
 *
 * @param id 1 to 64, never reused: steers that outlive the process refer to it
 * @param segments in the order in which packets visit them
 * @param device outgoing interface to the first segment
 * @param via next hop there; null if a routing protocol installs the route
 */
public record ListConfig(
    int id,
    String name,
    String policy,
    int weight,
    List<Inet6Address> segments,
    String device,
    @Nullable InetAddress via) {}
