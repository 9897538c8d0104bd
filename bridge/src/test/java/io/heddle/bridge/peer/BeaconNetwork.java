package io.heddle.bridge.peer;

import static io.heddle.bridge.peer.Bridges.MS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Simulation of bridges that exchange beacons over two fabrics, in virtual time. One fabric loses
 * most beacons; the other one only delays them, unless it is cut. Beacons may be reordered. The
 * simulation fails as soon as a group has two owners.
 */
final class BeaconNetwork {
  static final int MOST_DELAY_MS = 12;
  static final List<Gid> GROUPS = Bridges.groups(12);

  private final Random random;
  private final Map<Integer, PeerProtocol> bridges = new TreeMap<>();
  private final Map<Integer, Long> sentMs = new TreeMap<>();
  private final List<InFlight> flights = new ArrayList<>();
  private final boolean[] cut = new boolean[2];
  private long nowMs;
  private long incarnation = 1000;
  private int lossy = 1;
  private boolean twoOwners;
  private boolean changed;

  /** Beacon in flight. */
  private record InFlight(Beacon beacon, int to, int side, long atMs) {}

  BeaconNetwork(int count, long seed) {
    random = new Random(seed);
    for (int id = 1; id <= count; id++) {
      start(id);
    }
  }

  void start(int id) {
    incarnation++;
    PeerProtocol bridge = new PeerProtocol(Bridges.settings(id), incarnation, nowMs * MS);
    bridge.setFabricsUp(Bridges.BOTH_FABRICS);
    bridges.put(id, bridge);
    sentMs.put(id, nowMs);
  }

  void kill(int id) {
    bridges.remove(id);
  }

  PeerProtocol bridge(int id) {
    return bridges.get(id);
  }

  void cut(int side, boolean on) {
    cut[side] = on;
  }

  void allowTwoOwners() {
    twoOwners = true;
  }

  int random(int most) {
    return 1 + random.nextInt(most);
  }

  /** Causes a random event: an operator's order or a link that fails or recovers. */
  void anyEvent() {
    PeerProtocol any = bridges.get(1 + random.nextInt(bridges.size()));
    switch (random.nextInt(6)) {
      case 0 -> any.setDraining(random.nextBoolean());
      case 1 -> any.setReserve(random.nextBoolean());
      case 2 -> any.setFabricsUp(1 + random.nextInt(Bridges.BOTH_FABRICS));
      case 3 ->
          any.pin(GROUPS.get(random.nextInt(GROUPS.size())), random.nextInt(bridges.size() + 1));
      case 4 -> lossy = random.nextInt(2);
      default -> any.setFabricsUp(Bridges.BOTH_FABRICS);
    }
  }

  /** Makes all bridges eligible again. */
  void makeEligible() {
    for (PeerProtocol each : bridges.values()) {
      each.setDraining(false);
      each.setFabricsUp(Bridges.BOTH_FABRICS);
    }
  }

  void run(int ms) {
    for (int i = 0; i < ms; i++) {
      nowMs++;
      changed = false;
      bridges.forEach(this::step);
      if (changed && !twoOwners) {
        for (Gid each : GROUPS) {
          assertTrue(owners(each) <= 1, () -> each + " has two owners at " + nowMs + " ms");
        }
      }
    }
  }

  private void step(int id, PeerProtocol bridge) {
    for (InFlight each : List.copyOf(flights)) {
      if (each.to() == id && each.atMs() <= nowMs) {
        flights.remove(each);
        bridge.receive(each.beacon(), each.side(), nowMs * MS);
      }
    }
    boolean sendsNow = bridge.step(nowMs * MS, GROUPS);
    changed |= sendsNow;
    if (sendsNow || nowMs - sentMs.get(id) >= Bridges.INTERVAL_MS) {
      sentMs.put(id, nowMs);
      send(id, bridge);
    }
  }

  private void send(int id, PeerProtocol bridge) {
    for (int side = 0; side < 2; side++) {
      Beacon beacon = bridge.beacon(side, List.of(), false, nowMs * MS);
      boolean lost = cut[side] || side == lossy && random.nextInt(4) != 0;
      for (int to : bridges.keySet()) {
        if (to != id && !lost) {
          flights.add(new InFlight(beacon, to, side, nowMs + random(MOST_DELAY_MS)));
        }
      }
    }
  }

  private int owners(Gid group) {
    int owners = 0;
    for (PeerProtocol each : bridges.values()) {
      owners += each.roleOf(group) == Role.OWNER ? 1 : 0;
    }
    return owners;
  }

  /** Adds up the number of owners of each group, and returns the sum. */
  int owners() {
    return GROUPS.stream().mapToInt(this::owners).sum();
  }
}
