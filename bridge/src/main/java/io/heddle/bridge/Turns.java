package io.heddle.bridge;

import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;

/** This bridge's turns, by group. The control path's, under the bridge's lock. */
final class Turns {
  private final Turn first;
  private final Map<Gid, Turn> turns = new LinkedHashMap<>();

  /**
   * @param first the turn of a group that is new
   */
  Turns(Turn first) {
    this.first = first;
  }

  Turn of(Gid group) {
    return turns.getOrDefault(group, first);
  }

  /**
   * Follows what was decided.
   *
   * @param groups that are bridged; others are forgotten
   * @return whether a turn is another one than before
   */
  boolean follow(PeerProtocol protocol, Collection<Gid> groups, long nowNs) {
    boolean changed = false;
    turns.keySet().retainAll(new HashSet<>(groups));
    for (Gid each : groups) {
      Turn before = of(each);
      Turn turn = Turn.after(before, protocol.roleOf(each), nowNs);
      changed |= turn != before;
      turns.put(each, turn);
    }
    return changed;
  }

  /** By group, as the data path looks them up. */
  Map<Gid, Served> serve(Map<Gid, BridgedGroup> groups) {
    Map<Gid, Served> served = new LinkedHashMap<>();
    groups.forEach((address, group) -> served.put(address, new Served(group, of(address))));
    return served;
  }
}
