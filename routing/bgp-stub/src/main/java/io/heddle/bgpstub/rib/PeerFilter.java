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
 * Address prefix filter that one peer has from us (RFC 5291, RFC 5292), as lines to send.
 *
 * <p>An unwanted prefix is denied under its line's number, never removed. One widespread BGP
 * implementation takes every removal for the removal of all lines, and then sends its whole table.
 * Once most lines are denied, the filter is rebuilt: a message with a deferred answer removes all
 * lines, and the full list follows.
 */
final class PeerFilter {
  private static final int FIRST_SEQUENCE = 5;
  private static final int STEP = 5;
  private static final int FEW_DENIED = 64;

  private final Map<Prefix, Long> permitted = new LinkedHashMap<>();
  private final Map<Prefix, Long> denied = new LinkedHashMap<>();
  private long nextSequence = FIRST_SEQUENCE;

  /** Returns the whole list, for a peer without a filter of ours. */
  List<OrfEntry> rebuild(Collection<Prefix> wanted) {
    permitted.clear();
    denied.clear();
    nextSequence = FIRST_SEQUENCE;
    return update(wanted);
  }

  /** Returns the lines after which exactly these prefixes are permitted; empty without a change. */
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

  /** Returns whether the list should be rebuilt. */
  boolean needsRebuild() {
    return denied.size() > Math.max(FEW_DENIED, permitted.size());
  }

  /** Returns whether a route to this destination may pass. */
  boolean permits(Prefix destination) {
    return permitted.keySet().stream().anyMatch(prefix -> prefix.covers(destination));
  }

  int lines() {
    return permitted.size() + denied.size();
  }
}
