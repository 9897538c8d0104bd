package io.heddle.transport;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import org.junit.jupiter.api.Test;

/** Tests of sends that are larger than their receives. */
abstract class TruncationSuite extends TransportSuite {
  @Test
  void sendLargerThanItsReceiveIsCutAndReportedOnce() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      int most = 300_001;
      long to = ends.memory(most);
      long from = ends.memory(most);
      Ends.fill(from, most, 3);
      long handle = link.receiver().registerMemory(to, most, 1);
      long fromHandle = link.sender().registerMemory(from, most, 1);
      for (int room : new int[] {1000, 0, 1, 200_000, most - 1}) {
        Memory.ALL.asSlice(to, most).fill((byte) 0x5a);
        long receive = ends.receive(link, to, room, 5, handle);
        long send = Ends.send(link, from, most, 5, fromHandle);
        Ends.await(
            "both ends",
            () -> {
              Ends.progress(link);
              return Ends.isDone(send) && Ends.isDone(receive);
            });
        assertEquals(room, Ends.size(send, 0), "size reported to the sender");
        assertEquals(room, Ends.size(receive, 0), "size reported to the receiver");
        Ends.release(send);
        Ends.release(receive);
        Ends.check(to, room, 3);
        for (int i = room; i < most; i++) {
          assertEquals(0x5a, Memory.ALL.get(JAVA_BYTE, to + i), "byte %s of %s".formatted(i, room));
        }
      }
      String line = ends.line("is cut to that");
      assertTrue(line.contains("300001 bytes (tag 5)") && line.contains("of 1000 bytes"), line);
      assertTrue(line.contains(link.sending().peer()), line);
      long counted =
          StatsReader.read(ends.left.statsFile()).stream()
              .mapToLong(ProcessStats.Row::cutSends)
              .sum();
      assertEquals(5, counted);
    }
  }

  @Test
  void inAGroupEachSendIsCutToItsMatchingReceive() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      int length = 100_000;
      long to = ends.memory(3L * length);
      long from = ends.memory(length);
      Ends.fill(from, length, 8);
      long handle = link.receiver().registerMemory(to, 3L * length, 1);
      long fromHandle = link.sender().registerMemory(from, length, 1);
      long[] addresses = {to, to + length, to + 2L * length};
      long[] rooms = {70_000, length, 10};
      long receive = ends.receive(link, addresses, rooms, new int[] {1, 2, 3}, handle);
      for (int tag : new int[] {3, 1, 2}) {
        long send = Ends.send(link, from, length, tag, fromHandle);
        Ends.await(
            "send " + tag,
            () -> {
              Ends.progress(link);
              return Ends.isDone(send);
            });
        assertEquals(rooms[tag - 1], Ends.size(send, 0), "size of send " + tag);
        Ends.release(send);
      }
      Ends.await(
          "the group",
          () -> {
            Ends.progress(link);
            return Ends.isDone(receive);
          });
      for (int i = 0; i < 3; i++) {
        assertEquals(rooms[i], Ends.size(receive, i), "size of receive " + i);
        Ends.check(addresses[i], (int) rooms[i], 8);
      }
      Ends.release(receive);
    }
  }
}
