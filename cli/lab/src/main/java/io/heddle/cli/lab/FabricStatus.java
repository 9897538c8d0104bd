package io.heddle.cli.lab;

import io.heddle.switching.LinkCount;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fabric as it is at one moment.
 *
 * @param name of the lab
 * @param shape leaf-spine or planes
 * @param since when it was made, ISO 8601
 * @param healthy whether every daemon runs and every plane has its own path everywhere
 * @param switching how its switches choose among equal links; null where they don't
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

  /** Of a fabric whose switches don't choose. */
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

  FabricStatus with(SwitchingStatus choosing) {
    return new FabricStatus(
        name, shape, since, healthy && choosing.watched(), planes, routers, hosts, choosing);
  }

  /** What keeps it from being healthy, for people; not what is cut. */
  String whatIsMissing() {
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
   * One plane.
   *
   * @param plane from 1
   * @param via the spine's or the plane's own leaf's name
   * @param rateGbps that its links are shaped to
   * @param announcedGbps path bandwidth that BGP announces
   * @param receivedBytes what arrived at the spine (or leaf) on this plane's links, with headers,
   *     since it was made
   * @param receivedPackets the same in packets
   * @param ownPaths pairs of leaf and remote prefix whose route crosses this plane and nothing else
   * @param paths all such pairs; 0 where no route is needed
   * @param borrowed interfaces that carry what has lost its own path, as {@code leaf:interface}
   * @param cuts links that are cut, as {@code leaf:interface carrier} or {@code … silent}
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
   * How switches choose, and what they have sent.
   *
   * @param mode hash, spray or spraylink
   * @param means bpf or nft
   * @param text the same and what else there is to say, for people
   * @param watched whether somebody looks after links that fail, and after loads
   */
  public record SwitchingStatus(
      String mode, String means, String text, boolean watched, List<LinkCount> links) {}

  /**
   * One router.
   *
   * @param name of the router
   * @param program bird or frr
   * @param pids its daemons' numbers
   * @param alive whether all its daemons run
   * @param sessions BGP sessions with routers that are up
   * @param expected how many there should be
   * @param hostSessions BGP sessions with hosts that are up
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
   * One host.
   *
   * @param name of the host
   * @param namespace its network namespace
   * @param addresses what its kernel formed, in order of planes
   * @param missing planes on which it has no address
   */
  public record HostStatus(
      String name, String namespace, List<String> addresses, List<String> missing) {}
}
