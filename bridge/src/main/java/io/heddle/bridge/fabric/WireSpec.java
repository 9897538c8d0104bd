package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * A wire fabric as configured.
 *
 * @param name of the fabric
 * @param interfaceName the network interface that leads there
 * @param addresses own ones to use, IPv4 mapped; empty for all of the interface
 * @param hops time to live of what is sent, 1 to 255
 * @param trains whether IPv4 packets may leave as segmented sends
 */
public record WireSpec(
    String name, String interfaceName, List<Gid> addresses, int hops, boolean trains) {}
