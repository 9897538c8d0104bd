package io.heddle.bgpstub.daemon;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Difference between the running configuration and a newly read one.
 *
 * @param removed names of the peers whose sessions end: removed peers, and peers whose session must
 *     be replaced
 * @param added peers whose sessions begin
 * @param adjusted peers that keep their session but get other settings
 * @param unchanged number of unchanged peers
 */
record ConfigChange(
    List<String> removed, List<PeerConfig> added, List<PeerConfig> adjusted, int unchanged) {

  /**
   * Compares two configurations.
   *
   * @throws HeddleException if a value differs that can't change while the daemon runs; the message
   *     has both values
   */
  static ConfigChange between(DaemonConfig now, DaemonConfig next) {
    refuse("as", now.as(), next.as());
    refuse("router-id", now.routerId(), next.routerId());
    refuse("listen-port", now.listenPort(), next.listenPort());
    refuse("publish", now.publish(), next.publish());
    refuse("control", now.control(), next.control());
    boolean allNew = !now.codePoints().equals(next.codePoints());
    Map<String, PeerConfig> before = new TreeMap<>();
    now.peers().forEach(peer -> before.put(peer.name(), peer));
    List<String> ended = new ArrayList<>();
    List<PeerConfig> begun = new ArrayList<>();
    List<PeerConfig> adjusted = new ArrayList<>();
    int untouched = 0;
    for (PeerConfig peer : next.peers()) {
      PeerConfig old = before.remove(peer.name());
      if (old == null) {
        begun.add(peer);
      } else if (allNew || !peer.hasSessionOf(old)) {
        ended.add(peer.name());
        begun.add(peer);
      } else if (!peer.equals(old)) {
        adjusted.add(peer);
      } else {
        untouched++;
      }
    }
    ended.addAll(before.keySet());
    return new ConfigChange(
        List.copyOf(ended), List.copyOf(begun), List.copyOf(adjusted), untouched);
  }

  private static void refuse(String key, Object now, Object next) {
    if (!now.equals(next)) {
      throw new HeddleException(
          "%s is %s and can't become %s while the daemon runs: restart it"
              .formatted(key, text(key, now), text(key, next)));
    }
  }

  private static String text(String key, Object value) {
    if (value instanceof Path || !key.equals("router-id")) {
      return value.toString();
    }
    return value.equals(0) ? "the one of the addresses" : ExtendedCommunity.dotted((int) value);
  }

  /** Returns a summary for the log. */
  String describe() {
    return "%s peers begin %s, %s end %s, %s are adjusted %s, %s stay as they are"
        .formatted(
            added.size(),
            added.stream().map(PeerConfig::name).toList(),
            removed.size(),
            removed,
            adjusted.size(),
            adjusted.stream().map(PeerConfig::name).toList(),
            unchanged);
  }
}
