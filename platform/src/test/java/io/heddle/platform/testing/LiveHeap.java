package io.heddle.platform.testing;

import java.lang.management.ManagementFactory;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Size of live objects on the heap. The JVM's own figure of used memory includes the collector's
 * filler objects and varies between runs by hundreds of kilobytes.
 */
public final class LiveHeap {
  private static final Pattern ROW = Pattern.compile("(?m)^ *\\d+: +\\d+ +(\\d+) +(\\S+)");
  private static final int USELESS_COLLECTIONS = 4;

  private LiveHeap() {}

  /**
   * Returns the bytes of all objects that survive collections. Some objects survive only one
   * collection: those that wait for a cleaner, or that a thread has just used. So this method
   * collects until the size is stable.
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
