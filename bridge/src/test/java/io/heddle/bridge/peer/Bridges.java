package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;

/** Fixtures for the tests of this package. */
final class Bridges {
  static final int INTERVAL_MS = 100;
  static final long MS = 1_000_000;
  static final int BOTH_FABRICS = 3;

  private Bridges() {}

  static Gid group(int number) {
    return new Gid(0, 0xffff_ef01_0000L + number);
  }

  static List<Gid> groups(int count) {
    List<Gid> groups = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      groups.add(group(i));
    }
    return groups;
  }

  static PeerSettings settings(int id) {
    return new PeerSettings(id, 100, 1, INTERVAL_MS, false, "", null, null, PeerSettings.PORT);
  }

  static Beacon beacon(int id, long incarnation, long sequence, int side) {
    return new Beacon(
        new Beacon.Origin(id, incarnation, sequence, side, INTERVAL_MS, 0),
        new Beacon.Standing(BridgeState.STANDBY, 100, 1, BOTH_FABRICS, false, false),
        new Beacon.Agreement(0, 0, false, List.of()),
        List.of(),
        List.of());
  }
}
