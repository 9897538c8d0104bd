package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.softdevice.io.PeerLinks;
import io.heddle.softdevice.io.SocketOutlet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Tests which memory of a queue pair may use large pages. */
class SocketOutletTest {
  private static final long LARGE_PAGE = 2 << 20;

  /* Returns whether large pages were requested at this address (proc(5), VmFlags). */
  private static boolean wantsLargePages(long address) throws Exception {
    boolean inRange = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        String[] range = line.split(" ", 2)[0].split("-");
        inRange =
            Long.compareUnsigned(address, Long.parseUnsignedLong(range[0], 16)) >= 0
                && Long.compareUnsigned(address, Long.parseUnsignedLong(range[1], 16)) < 0;
      } else if (inRange && line.startsWith("VmFlags:")) {
        return List.of(line.split(" +")).contains("hg");
      }
    }
    throw new AssertionError("no mapping has the address");
  }

  @Test
  void onlySecondAreaUsesLargePages() throws Exception {
    try (SoftPair pair = new SoftPair("", 4096)) {
      Engine engine = pair.left.context.engine();
      SocketOutlet outlet =
          new SocketOutlet(
              engine.sendStage,
              engine.narrowPathWarning,
              engine.counters.trains(),
              engine.shares,
              new PeerLinks(),
              4096);
      PacketMemory memory = outlet.memory();
      try {
        long large = memory.ring().nextAddress() + TransmitRing.AREA_BYTES;
        assertEquals(0, large % LARGE_PAGE, "whole ones fit");
        assertEquals(0, TransmitRing.AREA_BYTES % LARGE_PAGE);
        assertFalse(wantsLargePages(memory.ring().nextAddress()), "what small messages use");
        assertFalse(wantsLargePages(large - 1), "all of it");
        assertFalse(wantsLargePages(memory.controlPacket()), "what every queue pair uses");
        assertFalse(wantsLargePages(outlet.tables()), "what is touched here and there");
        if (!engine.sendStage.supportsZeroCopy()) {
          String why = "this kernel copies what comes out of a pipe";
          System.out.println("skipped: " + why);
          Assumptions.abort(why);
        }
        if (Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage"))) {
          assertTrue(wantsLargePages(large));
          assertTrue(wantsLargePages(large + TransmitRing.AREA_BYTES - 1));
        }
      } finally {
        outlet.free();
      }
    }
  }
}
