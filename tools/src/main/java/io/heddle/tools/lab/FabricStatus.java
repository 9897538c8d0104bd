package io.heddle.tools.lab;

import io.heddle.tools.switching.LinkCount;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Status of a fabric at one moment.
 *
 * @param name name of the lab
 * @param shape leaf-spine or planes
 * @param since time of creation, ISO 8601
 * @param healthy whether every daemon runs and every plane has its own path everywhere
 * @param switching status of the switches' load balancing over equal links; null if they don't
 *     balance
 */
public record FabricStatus(
    String name,
    String shape,
    String since,
    boolean healthy,
    List<PlaneStatus> planes,
    List<RouterStatus> routers,
    List<HostStatus> hosts,
    @Nullable SwitchingStatus switching) {

  /** Creates the status of a fabric without load-balancing switches. */
  FabricStatus(
      String name,
      String shape,
      String since,
      boolean healthy,
      List<PlaneStatus> planes,
      List<RouterStatus> routers,
      List<HostStatus> hosts) {
    this(name, shape, since, healthy, planes, routers, hosts, null);
  }

  /** Returns this status with the status of its switches. */
  FabricStatus with(SwitchingStatus choosing) {
    return new FabricStatus(
        name, shape, since, healthy && choosing.watched(), planes, routers, hosts, choosing);
  }

  /**
   * Returns a list of the missing parts that make the fabric unhealthy, except for links that were
   * cut.
   */
  String missingParts() {
    List<String> missing = new ArrayList<>();
    for (RouterStatus router : routers) {
      if (!router.alive() || router.sessions() < router.expected()) {
        missing.add(
            router.name()
                + (router.alive() ? "" : " is dead and")
                + " has "
                + router.sessions()
                + " of "
                + router.expected()
                + " sessions");
      }
    }
    for (PlaneStatus plane : planes) {
      if (plane.ownPaths() < plane.paths()) {
        missing.add(
            "plane "
                + plane.plane()
                + " has "
                + plane.ownPaths()
                + " of "
                + plane.paths()
                + " paths");
      }
    }
    for (HostStatus host : hosts) {
      if (!host.missing().isEmpty()) {
        missing.add(host.name() + " has no " + String.join(", ", host.missing()));
      }
    }
    return String.join("; ", missing);
  }

  /**
   * Status of one plane.
   *
   * @param plane number of the plane, from 1
   * @param via name of the plane's spine, or of its leaf if planes are separate networks
   * @param rateGbps rate to which the plane's links are shaped, Gbit/s
   * @param announcedGbps path bandwidth that BGP announces, Gbit/s
   * @param receivedBytes number of bytes that the router in {@code via} received on the plane's
   *     links since creation, headers included
   * @param receivedPackets number of packets that the router in {@code via} received on the plane's
   *     links since creation
   * @param ownPaths number of pairs of leaf and remote prefix whose route crosses only this plane
   * @param paths number of all such pairs; 0 if no route is needed
   * @param borrowed interfaces that carry traffic of this plane while its own path is lost, as
   *     {@code leaf:interface}
   * @param cuts cut links, as {@code leaf:interface carrier} or {@code … silent}
   */
  public record PlaneStatus(
      int plane,
      String via,
      double rateGbps,
      int announcedGbps,
      long receivedBytes,
      long receivedPackets,
      int ownPaths,
      int paths,
      List<String> borrowed,
      List<String> cuts) {}

  /**
   * Load balancing of the switches, and their counters.
   *
   * @param mode hash, spray or spraylink
   * @param text description of the settings
   * @param watched whether a process handles link failures and loads
   */
  public record SwitchingStatus(String mode, String text, boolean watched, List<LinkCount> links) {}

  /**
   * Status of one router.
   *
   * @param name name of the router
   * @param program bird or frr
   * @param pids process IDs of the router's daemons
   * @param alive whether all the router's daemons run
   * @param sessions number of established BGP sessions with routers
   * @param expected expected number of sessions with routers
   * @param hostSessions number of established BGP sessions with hosts
   */
  public record RouterStatus(
      String name,
      String program,
      List<Long> pids,
      boolean alive,
      int sessions,
      int expected,
      int hostSessions) {}

  /**
   * Status of one host.
   *
   * @param name name of the host
   * @param namespace network namespace of the host
   * @param addresses addresses that the host's kernel has formed, in the order of planes
   * @param missing planes on which the host has no address
   */
  public record HostStatus(
      String name, String namespace, List<String> addresses, List<String> missing) {}
}
