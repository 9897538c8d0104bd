package io.heddle.bridge.fabric;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * A wire fabric as configured.
 *
 * @param name of the fabric
 * @param interfaceName the network interface that leads there
 * @param addresses own ones to use, IPv4 mapped; empty for all of the interface
 * @param standIns own ones that stand for hosts of the other fabric
 * @param hops time to live of what is sent, 1 to 255
 * @param trains whether IPv4 packets may leave as segmented sends
 */
public record WireSpec(
    String name,
    String interfaceName,
    List<Gid> addresses,
    List<Gid> standIns,
    int hops,
    boolean trains) {}
