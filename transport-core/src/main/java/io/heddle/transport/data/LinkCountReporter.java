package io.heddle.transport.data;

import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.QueuePair;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reporter of queue pairs' per-link counts to the counters of the planes. Used by the control
 * thread, and by the thread that detaches the counters.
 */
final class LinkCountReporter {
  private record ReportedCounts(QueuePair queuePair, List<LinkCounts> counts) {}

  /*
   * Counts reported last, by position of the queue pair in its connection. A fresh queue pair in a
   * position counts from zero.
   */
  private final Map<Integer, ReportedCounts> reported = new HashMap<>();

  /**
   * Adds to the planes' counters what the queue pair in this position has counted since the last
   * report.
   */
  synchronized void report(int position, QueuePair queuePair, ConnectionWeights planes) {
    List<LinkCounts> now = queuePair.linkCounts();
    ReportedCounts last = reported.get(position);
    boolean goesOn =
        last != null && last.queuePair() == queuePair && last.counts().size() == now.size();
    for (int plane = 0; plane < now.size(); plane++) {
      LinkCounts before = last != null && goesOn ? last.counts().get(plane) : null;
      planes.countLink(plane, before == null ? now.get(plane) : now.get(plane).since(before));
    }
    reported.put(position, new ReportedCounts(queuePair, now));
  }
}
