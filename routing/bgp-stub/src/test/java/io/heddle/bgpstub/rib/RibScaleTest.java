package io.heddle.bgpstub.rib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.LiveHeap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Test with four planes of 100,000 host routes each. */
@Isolated("it reads the clock, and counts the heap of this process")
class RibScaleTest {
  private static final int PLANES = 4;
  private static final int HOSTS = 100_000;
  private static final int SETS = 391;
  private static final int PACKED = 200;
  private static final long MOST_HEAP_BYTES = 60L << 20;
  private static final long MOST_CHANGE_NS = 5_000_000;

  /*
   * Limit of the time to process all routes. The goal on an idle machine is a second; the limit is
   * higher, since other tests run at the same time.
   */
  private static final long MOST_FILL_SECONDS = 5;

  @TempDir Path folder;

  @Test
  void fourHundredThousandRoutesAreCompact() {
    List<PathAttributes> sets = new ArrayList<>();
    for (int i = 0; i < SETS; i++) {
      sets.add(
          RibTestBed.attributes(
              AsPath.of(65301, 65201),
              RibTestBed.communities(RibTestBed.gbps(100 + i), RibTestBed.colour(7))));
    }
    try (RibTestBed bed = RibTestBed.of(folder)) {
      long heapBefore = LiveHeap.bytes();
      List<AdjRibIn> peers = new ArrayList<>();
      long start = System.nanoTime();
      Deadline limit = Deadline.ofSeconds(MOST_FILL_SECONDS);
      for (int plane = 0; plane < PLANES; plane++) {
        AdjRibIn peer = bed.rib.addPeer("p" + plane, "plane:" + plane, 0);
        peers.add(peer);
        for (int host = 0; host < HOSTS; host += PACKED) {
          peer.update(update(host, PACKED, sets.get((host / PACKED + plane) % SETS)));
        }
      }
      boolean isSlow = limit.isOver();
      long filled = System.nanoTime() - start;
      long heap = LiveHeap.bytes() - heapBefore;
      assertEquals(HOSTS, bed.publisher.entries());
      long[] changes = new long[200];
      for (int i = 0; i < changes.length; i++) {
        long begin = System.nanoTime();
        peers.get(i % PLANES).update(update(i * 37, 1, sets.get(i)));
        changes[i] = System.nanoTime() - begin;
      }
      Arrays.sort(changes);
      System.out.printf(
          Locale.ROOT,
          "%d x %,d routes: %d ms, heap %.1f MB, one change median %d us, worst %d us%n",
          PLANES,
          HOSTS,
          filled / 1_000_000,
          heap / 1e6,
          changes[100] / 1000,
          changes[199] / 1000);
      assertTrue(heap < MOST_HEAP_BYTES, heap + " bytes of heap");
      assertFalse(isSlow, () -> "not filled within " + limit);
      assertTrue(changes[100] < MOST_CHANGE_NS, changes[100] + " ns for one change");
    }
  }

  private static UpdateMessage update(int first, int count, PathAttributes attributes) {
    Prefix[] prefixes = new Prefix[count];
    for (int i = 0; i < count; i++) {
      prefixes[i] = new Prefix(0xfd00_0009_0000_0000L | first + i, 1, 128);
    }
    return UpdateMessage.announce(Nlri.of(prefixes), attributes, new NextHop(0, 1, 0, 0));
  }
}
