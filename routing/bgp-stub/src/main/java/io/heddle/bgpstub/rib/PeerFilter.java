package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.Prefix;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Address prefix filter that we send to one peer (RFC 5291, RFC 5292).
 *
 * <p>The line of an unwanted prefix is changed to deny, never removed. One widespread BGP
 * implementation treats every removal as the removal of all lines, and then sends its whole table.
 * Once most lines deny, the filter is rebuilt: one message removes all lines and defers the peer's
 * answer, and the full list follows.
 */
final class PeerFilter {
  private static final int FIRST_SEQUENCE = 5;
  private static final int STEP = 5;
  private static final int FEW_DENIED = 64;

  private final Map<Prefix, Long> permitted = new LinkedHashMap<>();
  private final Map<Prefix, Long> denied = new LinkedHashMap<>();
  private long nextSequence = FIRST_SEQUENCE;

  /** Starts a new filter. Returns all its lines, for a peer that has no filter from us. */
  List<OrfEntry> rebuild(Collection<Prefix> wanted) {
    permitted.clear();
    denied.clear();
    nextSequence = FIRST_SEQUENCE;
    return update(wanted);
  }

  /**
   * Returns the lines to send, after which exactly these prefixes are permitted; empty if nothing
   * changes.
   */
  List<OrfEntry> update(Collection<Prefix> wanted) {
    List<OrfEntry> lines = new ArrayList<>();
    TreeSet<Prefix> sorted = new TreeSet<>(wanted);
    for (Map.Entry<Prefix, Long> line : List.copyOf(permitted.entrySet())) {
      if (!sorted.contains(line.getKey())) {
        permitted.remove(line.getKey());
        denied.put(line.getKey(), line.getValue());
        lines.add(OrfEntry.deny(line.getValue(), line.getKey()));
      }
    }
    for (Prefix prefix : sorted) {
      if (permitted.containsKey(prefix)) {
        continue;
      }
      Long before = denied.remove(prefix);
      long sequence = before == null ? next() : before;
      permitted.put(prefix, sequence);
      lines.add(OrfEntry.permit(sequence, prefix));
    }
    return lines;
  }

  private long next() {
    long sequence = nextSequence;
    nextSequence += STEP;
    return sequence;
  }

  /** Returns whether the filter should be rebuilt, because it has too many deny lines. */
  boolean needsRebuild() {
    return denied.size() > Math.max(FEW_DENIED, permitted.size());
  }

  /** Returns whether the filter permits a route to this destination. */
  boolean permits(Prefix destination) {
    return permitted.keySet().stream().anyMatch(prefix -> prefix.covers(destination));
  }

  int lines() {
    return permitted.size() + denied.size();
  }
}
