package io.heddle.platform.testing;

import java.lang.management.ManagementFactory;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Meter of the size of live objects on the heap. The JVM's own figure of used memory isn't exact
 * enough: it includes the collector's filler objects, and varies by hundreds of kilobytes between
 * runs.
 */
public final class LiveHeap {
  private static final Pattern ROW = Pattern.compile("(?m)^ *\\d+: +\\d+ +(\\d+) +(\\S+)");
  private static final int USELESS_COLLECTIONS = 4;

  private LiveHeap() {}

  /**
   * Returns the bytes of all objects that survive collections. Some unreachable objects survive one
   * collection, for example those that wait for a cleaner. So this method collects until the size
   * no longer falls.
   */
  public static long bytes() {
    long least = Long.MAX_VALUE;
    for (int inVain = 0; inVain < USELESS_COLLECTIONS; inVain++) {
      long live = afterCollection();
      if (live < least) {
        least = live;
        inVain = 0;
      }
    }
    return least;
  }

  private static long afterCollection() {
    try {
      Object histogram =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
      return ROW.matcher((String) histogram)
          .results()
          .filter(row -> !row.group(2).contains("FillerElement"))
          .mapToLong(row -> Long.parseLong(row.group(1)))
          .sum();
    } catch (JMException failed) {
      throw new AssertionError("this JVM has no heap histogram", failed);
    }
  }
}
