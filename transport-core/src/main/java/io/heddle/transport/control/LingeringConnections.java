package io.heddle.transport.control;

import io.heddle.platform.OpenFiles;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Connections that were closed here and wait for the other end's goodbye, a bounded number of them:
 * each still has its queue pairs, memory and descriptors. Where one more comes, the one that has
 * waited longest waits no more. Control thread.
 */
public final class LingeringConnections {
  /** As many as may be open at a time in a heap of 256 MiB. */
  static final int MOST = 1024;

  static final int LEAST = 64;

  /* Of four planes: its control channel, a socket for each, and one to spare. */
  private static final int DESCRIPTORS_OF_EACH = 6;

  /* So large a part of the process's descriptors they may have. */
  private static final int SHARE = 4;

  private final int most;
  private final Set<Runnable> waiting = new LinkedHashSet<>();

  /**
   * @param openFiles how many descriptors the process may have; negative where that isn't known
   */
  LingeringConnections(long openFiles) {
    most =
        openFiles < 0
            ? MOST
            : (int) Math.clamp(openFiles / (SHARE * DESCRIPTORS_OF_EACH), LEAST, MOST);
  }

  static LingeringConnections ofThisProcess() {
    return new LingeringConnections(OpenFiles.limit());
  }

  /**
   * A connection waits.
   *
   * @param end ends it, and {@linkplain #remove takes it out}; its faults are its own to deal with
   */
  public void add(Runnable end) {
    waiting.add(end);
    while (waiting.size() > most) {
      Iterator<Runnable> each = waiting.iterator();
      Runnable oldest = each.next();
      each.remove();
      oldest.run();
    }
  }

  /** A connection has ended, whether it has waited or not. */
  public void remove(Runnable end) {
    waiting.remove(end);
  }

  int count() {
    return waiting.size();
  }
}
