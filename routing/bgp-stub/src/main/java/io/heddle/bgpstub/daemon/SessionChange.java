package io.heddle.bgpstub.daemon;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sessions that end and begin with another configuration. All others continue.
 *
 * @param ended names of the peers that are removed, or whose session must be replaced
 * @param begun peers that are added, or whose session must be replaced
 */
record SessionChange(List<String> ended, List<PeerConfig> begun) {
  static SessionChange between(DaemonConfig now, DaemonConfig next) {
    boolean allNew = !now.codePoints().equals(next.codePoints());
    Map<String, PeerConfig> before = new LinkedHashMap<>();
    now.peers().forEach(peer -> before.put(peer.name(), peer));
    List<PeerConfig> begun = new ArrayList<>();
    for (PeerConfig peer : next.peers()) {
      PeerConfig old = before.get(peer.name());
      if (old == null || allNew || !peer.hasSessionOf(old)) {
        begun.add(peer);
      } else {
        before.remove(peer.name());
      }
    }
    return new SessionChange(List.copyOf(before.keySet()), List.copyOf(begun));
  }

  /** Returns a summary for the log. */
  String describe() {
    return "sessions that end: %s, that begin: %s"
        .formatted(ended, begun.stream().map(PeerConfig::name).toList());
  }
}
