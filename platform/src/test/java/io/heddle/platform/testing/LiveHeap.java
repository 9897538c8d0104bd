package io.heddle.platform.testing;

import java.lang.management.ManagementFactory;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What objects take on the heap that are in use. The memory in use as the machine counts it has
 * what the collector fills gaps with, too, and differs from run to run by hundreds of kilobytes.
 */
public final class LiveHeap {
  private static final Pattern ROW = Pattern.compile("(?m)^ *\\d+: +\\d+ +(\\d+) +(\\S+)");
  private static final int VAIN_COLLECTIONS = 4;

  private LiveHeap() {}

  /**
   * Bytes of all objects that outlive collections. Some outlive one: those that wait for a cleaner,
   * or that a thread has just used. So it collects until that is in vain.
   */
  public static long bytes() {
    long least = Long.MAX_VALUE;
    for (int inVain = 0; inVain < VAIN_COLLECTIONS; inVain++) {
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
      throw new AssertionError("this Java tells no histogram of its heap", failed);
    }
  }
}
