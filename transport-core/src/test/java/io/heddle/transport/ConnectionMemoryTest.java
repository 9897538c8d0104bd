package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a connection of the soft device takes while it idles: heap, pages, descriptors. */
class ConnectionMemoryTest {
  /* With them comes what is made once. */
  private static final int FIRST_LINKS = 8;
  private static final int LINKS = 64;
  private static final long MOST_BYTES = 64 << 10;
  private static final long MOST_HEAP_BYTES = 48 << 10;

  /* Threads have stacks that look the same. */
  private static final long MOST_LEFT_BYTES = 16 << 10;

  private static final int VAIN_COLLECTIONS = 4;

  /** Of one direction: a control channel, and a sending socket on each of four planes. */
  private static final long MOST_DESCRIPTORS = 6;

  private static final Pattern ROW = Pattern.compile("(?m)^ *\\d+: +\\d+ +(\\d+) +(\\S+)");

  @TempDir private Path folder;

  @Test
  void anIdleConnectionIsSmall() throws IOException {
    List<Integer> four = List.of(1, 2, 3, 4);
    long before = residentOfTables();
    try (Ends ends = new Ends(null, folder, four, four, Map.of())) {
      List<Ends.Link> links = new ArrayList<>();
      for (int i = 0; i < FIRST_LINKS; i++) {
        links.add(ends.connect());
      }
      long heap = heapInUse();
      long pages = residentOfTables();
      long descriptors = descriptors();
      for (int i = 0; i < LINKS; i++) {
        links.add(ends.connect());
        links.getLast().listener().close();
      }
      int connections = 2 * LINKS; /* both ends are here */
      long heapEach = (heapInUse() - heap) / connections;
      long pagesEach = (residentOfTables() - pages) / connections;
      long descriptorsEach = (descriptors() - descriptors) / connections;
      String found =
          "a connection takes %s bytes of heap, %s of pages, %s descriptors"
              .formatted(heapEach, pagesEach, descriptorsEach);
      System.out.println(found);
      assertTrue(pagesEach > 0, "no page of a table is found: " + found);
      assertTrue(heapEach <= MOST_HEAP_BYTES, found);
      assertTrue(heapEach + pagesEach <= MOST_BYTES, found);
      assertTrue(descriptorsEach <= MOST_DESCRIPTORS, found);
      ends.exchange(links.getLast(), 100_000, 100_000, 1);
      links.forEach(Ends.Link::close);
    }
    long left = residentOfTables() - before;
    assertTrue(left < LINKS * MOST_LEFT_BYTES, left + " bytes of connections that are gone");
  }

  /* Some objects outlive a collection: those that wait for a cleaner, or that a thread has just used. */
  private static long heapInUse() {
    long least = Long.MAX_VALUE;
    for (int inVain = 0; inVain < VAIN_COLLECTIONS; inVain++) {
      long live = liveBytes();
      if (live < least) {
        least = live;
        inVain = 0;
      }
    }
    return least;
  }

  /* Of all objects, without what the collector fills gaps with, which counts as memory in use. */
  private static long liveBytes() {
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

  /* Of mappings that may not have large pages: those of queue pairs and connections, rings included, and stacks. */
  private static long residentOfTables() throws IOException {
    long bytes = 0;
    long resident = 0;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.startsWith("Rss:")) {
        resident = Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      } else if (line.startsWith("VmFlags:") && List.of(line.split(" +")).contains("nh")) {
        bytes += resident;
      }
    }
    return bytes;
  }

  private static long descriptors() throws IOException {
    try (var all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }
}
