package io.heddle.gateway.config;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A segment list of a policy.
 *
 * @param id 1 to 64, the same for good: steers that outlive the process name it
 * @param segments in the order in which packets meet them
 * @param device by which packets leave for the first segment
 * @param via the neighbour there; null where a routing protocol brings the route
 */
public record ListConfig(
    int id,
    String name,
    String policy,
    int weight,
    List<Inet6Address> segments,
    String device,
    @Nullable InetAddress via) {}
