package io.heddle.transport.control;

import io.heddle.platform.OpenFiles;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Bounded set of connections that are closed here and wait for the peer's Closing. Each still holds
 * queue pairs, memory and descriptors. A new connection above the bound ends the connection that
 * has waited longest. Control thread.
 */
public final class LingeringConnections {
  /** Maximum number of lingering connections: as many as a heap of 256 MiB can hold open. */
  static final int MOST = 1024;

  static final int LEAST = 64;

  /*
   * Descriptors of a connection over four planes: its control channel, a socket for each plane,
   * and one spare.
   */
  private static final int DESCRIPTORS_OF_EACH = 6;

  /*
   * Divisor of the process's descriptor limit: lingering connections may use one descriptor in this
   * many.
   */
  private static final int SHARE = 4;

  private final int most;
  private final Set<Runnable> waiting = new LinkedHashSet<>();

  /**
   * @param openFiles the process's descriptor limit; negative where unknown
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
   * Adds a waiting connection.
   *
   * @param end action that ends the connection and {@linkplain #remove removes} it; handles its own
   *     exceptions
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

  /** Removes a connection that has ended, whether it was added or not. */
  public void remove(Runnable end) {
    waiting.remove(end);
  }

  int count() {
    return waiting.size();
  }
}
