package io.heddle.bridge;

import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.bridge.redundancy.ForwardingGate;
import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;

/** This bridge's forwarding gates, by group. Used on the control path, under the bridge's lock. */
final class ForwardingGates {
  private final ForwardingGate first;
  private final Map<Gid, ForwardingGate> gates = new LinkedHashMap<>();

  /**
   * @param first gate of each new group
   */
  ForwardingGates(ForwardingGate first) {
    this.first = first;
  }

  ForwardingGate of(Gid group) {
    return gates.getOrDefault(group, first);
  }

  /**
   * Updates the gates to the roles that the protocol has decided.
   *
   * @param groups bridged groups; the gates of all others are removed
   * @return whether a gate has changed
   */
  boolean follow(PeerProtocol protocol, Collection<Gid> groups, long nowNs) {
    boolean changed = false;
    gates.keySet().retainAll(new HashSet<>(groups));
    for (Gid each : groups) {
      ForwardingGate before = of(each);
      ForwardingGate gate = ForwardingGate.after(before, protocol.roleOf(each), nowNs);
      changed |= gate != before;
      gates.put(each, gate);
    }
    return changed;
  }

  /** Returns the gated groups by address, for the data path. */
  Map<Gid, GatedGroup> gatedGroups(Map<Gid, BridgedGroup> groups) {
    Map<Gid, GatedGroup> served = new LinkedHashMap<>();
    groups.forEach((address, group) -> served.put(address, new GatedGroup(group, of(address))));
    return served;
  }
}
