package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.LiveHeap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the resources of an idle connection of the soft device: heap, pages, descriptors. */
class ConnectionMemoryTest {
  /*
   * Connections before the measurement, which also allocate everything that a process needs once.
   */
  private static final int FIRST_LINKS = 8;
  private static final int LINKS = 64;
  private static final long MOST_BYTES = 66 << 10;
  private static final long MOST_HEAP_BYTES = 48 << 10;

  /*
   * Limit of the memory that a closed connection leaves behind. It isn't 0, since
   * residentOfTables() counts the stacks of threads too.
   */
  private static final long MOST_LEFT_BYTES = 16 << 10;

  /**
   * Limit per end of a connection: a control channel, a sending socket on each of four planes, and
   * one spare.
   */
  private static final long MOST_DESCRIPTORS = 6;

  @TempDir private Path folder;

  @Test
  void idleConnectionIsSmall() throws IOException {
    List<Integer> four = List.of(1, 2, 3, 4);
    long before = residentOfTables();
    try (Ends ends = new Ends(null, folder, four, four, Map.of())) {
      List<Ends.Link> links = new ArrayList<>();
      for (int i = 0; i < FIRST_LINKS; i++) {
        links.add(ends.connect());
      }
      long heap = LiveHeap.bytes();
      long pages = residentOfTables();
      long descriptors = descriptors();
      for (int i = 0; i < LINKS; i++) {
        links.add(ends.connect());
        links.getLast().listener().close();
      }
      int connections = 2 * LINKS; /* both ends are in this process */
      long heapEach = (LiveHeap.bytes() - heap) / connections;
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
    assertTrue(left < LINKS * MOST_LEFT_BYTES, left + " bytes of closed connections");
  }

  /*
   * Returns the resident bytes of mappings that exclude large pages (nh): queue pairs, connections'
   * rings, and the stacks of threads.
   */
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
