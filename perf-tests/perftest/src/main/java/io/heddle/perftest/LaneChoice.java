package io.heddle.perftest;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.HostPlanes;
import io.heddle.addr.Plane;
import io.heddle.addr.PlaneRules;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Choice of a test's local addresses: the addresses of planes, or the address of one GID. */
final class LaneChoice {
  private final TestDevice device;
  private final Settings.PlaneChoice choice;
  private final List<Lane> planes;

  /**
   * @throws HeddleException if a requested plane is missing
   */
  LaneChoice(TestDevice device, Settings.PlaneChoice choice, Map<String, String> environment) {
    this.device = device;
    this.choice = choice;
    List<Lane> all = planes(device, environment);
    this.planes = choice.keys().isEmpty() ? all : named(all, choice.keys());
    if (choice.requested() && planes.isEmpty()) {
      throw new HeddleException(
          "device " + device.name() + " carries no plane: see heddle planes for the reasons");
    }
  }

  private static List<Lane> planes(TestDevice device, Map<String, String> environment) {
    HostPlanes host =
        new HostPlanes(
            HostAddresses.read(),
            PlaneRules.parse(environment.get("HEDDLE_PLANES")),
            AddressFilter.NONE,
            Map.of());
    GidTable gids = device.context().gidTable();
    List<Lane> lanes = new ArrayList<>();
    for (Plane plane :
        host.of(device.name(), address -> gids.indexOf(Gid.of(address)).isPresent()).planes()) {
      Lane lane = device.laneOf(plane.key(), Gid.of(plane.address().address()));
      if (lane != null) {
        lanes.add(lane);
      }
    }
    return lanes;
  }

  private List<Lane> named(List<Lane> all, List<String> keys) {
    List<Lane> chosen = new ArrayList<>();
    for (String key : keys) {
      chosen.add(
          all.stream()
              .filter(lane -> lane.key().equals(key))
              .findFirst()
              .orElseThrow(() ->
                  new HeddleException(
                      "--planes %s: device %s has no such plane; it has %s"
                          .formatted(key, device.name(), keys(all)))));
    }
    return chosen;
  }

  private static String keys(List<Lane> lanes) {
    return lanes.isEmpty() ? "none" : String.join(", ", lanes.stream().map(Lane::key).toList());
  }

  /** Returns the keys of the planes that this end can use. */
  List<String> keys() {
    return planes.stream().map(Lane::key).toList();
  }

  /**
   * Returns the local addresses of the test as {@link Lane}s.
   *
   * @param peer the other end's record, or null if the peer is stock perftest
   * @throws HeddleException if the two ends have no plane in common
   */
  List<Lane> lanes(@Nullable Hello peer) {
    boolean asked = choice.requested() || peer != null && peer.planesRequested();
    if (!asked) {
      return List.of(device.lane());
    }
    List<Lane> common = new ArrayList<>(planes);
    int most = choice.most();
    if (peer != null) {
      common.removeIf(lane -> !peer.planes().contains(lane.key()));
      most = Math.min(most, peer.mostPlanes());
    }
    if (common.isEmpty()) {
      throw new HeddleException(
          "the two ends have no plane in common: this end has %s, the other %s"
              .formatted(
                  keys(planes), peer == null || peer.planes().isEmpty() ? "none" : peer.planes()));
    }
    common.sort((left, right) -> Plane.KEY_ORDER.compare(left.key(), right.key()));
    return List.copyOf(common.subList(0, Math.min(most, common.size())));
  }
}
