package io.heddle.platform;

import java.util.Map;
import java.util.TreeMap;

/**
 * Ledger of open native objects by type. Wrappers of native handles report here when they are
 * opened and closed. After a test and at plugin finalize every count must be zero.
 *
 * <p>The ledger is thread-safe, and for the control path only.
 */
public final class LeakLedger {
  private final Map<String, Integer> openByType = new TreeMap<>();

  public synchronized void opened(String type) {
    openByType.merge(type, 1, Integer::sum);
  }

  /**
   * Records the close of an object.
   *
   * @throws IllegalStateException if more objects of this type are closed than were opened
   */
  public synchronized void closed(String type) {
    Integer open = openByType.get(type);
    if (open == null) {
      throw new IllegalStateException("closed a " + type + " that was never opened");
    }
    if (open == 1) {
      openByType.remove(type);
    } else {
      openByType.put(type, open - 1);
    }
  }

  /** Returns a copy of the non-zero counts, by type name. */
  public synchronized Map<String, Integer> open() {
    return new TreeMap<>(openByType);
  }

  public synchronized boolean isEmpty() {
    return openByType.isEmpty();
  }
}
