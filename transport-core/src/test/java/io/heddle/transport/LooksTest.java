package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Patience;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RecvComm;
import io.heddle.verbs.DeviceContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of how often callers poll the device, on soft devices over IPv4 loopback. */
class LooksTest {
  private static final int MOST_LOOKS = 1000;

  /* In struct heddle_comm. */
  private static final int NEWS = 32;
  private static final int LOOKS = 48;

  @TempDir private Path folder;

  @Test
  void sweepOverSeveralConnectionsPollsOnce() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        Ends.Link third = ends.connect()) {
      DeviceContext device = first.receiving().device().context();
      List<RecvComm> receivers = List.of(first.receiver(), second.receiver(), third.receiver());
      receivers.forEach(receiver -> assertEquals(0, receiver.progress()));
      int sweeps = 0;
      int looks = 0;
      Patience patience = Patience.ofSeconds(20);
      /* While another thread holds the device, a poll doesn't happen. */
      while (looks < MOST_LOOKS) {
        for (RecvComm receiver : receivers) {
          looks += looksAt(device, receiver);
        }
        sweeps++;
        assertFalse(patience.isOver(), "looks: " + looks);
      }
      assertTrue(sweeps > MOST_LOOKS * 0.9, "sweeps for 1000 looks: " + sweeps);
    }
  }

  @Test
  void singleConnectionIsPolledOnItsOwn() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      DeviceContext device = link.receiving().device().context();
      int looks = 0;
      Patience patience = Patience.ofSeconds(20);
      while (looks < MOST_LOOKS) {
        looks += looksAt(device, link.receiver());
        assertFalse(patience.isOver(), "looks: " + looks);
      }
    }
  }

  /* By this word, the shim calls Java for a connection only if there is something to do. */
  @Test
  void completionsFoundByAnotherPollAreSignalledToTheirConnection() {
    try (Ends ends = new Ends(null, folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect();
        Ends.Link idle = ends.connect()) {
      long from = ends.memory(64);
      long to = ends.memory(64);
      long fromHandle = link.sender().registerMemory(from, 64, 1);
      long toHandle = link.receiver().registerMemory(to, 64, 1);
      long receive = ends.receive(link, to, 64, 1, toHandle);
      Ends.await("progress of both", () -> settled(link) && settled(idle));
      long newsBefore = line(link.receiver(), NEWS);
      long idleBefore = line(idle.receiver(), NEWS);
      long send = ends.send(link, from, 64, 1, fromHandle);
      Ends.await(
          "news",
          () -> {
            assertEquals(0, idle.receiver().progress());
            return line(link.receiver(), NEWS) != newsBefore;
          });
      assertEquals(idleBefore, line(idle.receiver(), NEWS), "nothing has come for the other one");
      assertEquals(0, Memory.getIntAcquire(receive), "done without its progress");
      Ends.await(
          "end of both requests",
          () -> {
            assertEquals(0, link.receiver().progress());
            assertEquals(0, link.sender().progress());
            return Memory.getIntAcquire(receive) == 1 && Memory.getIntAcquire(send) == 1;
          });
      long looks = line(link.receiver(), LOOKS);
      assertEquals(
          link.receiving().device().context().progressedAtNs(), Memory.getLong(looks), "the looks");
    }
  }

  /* Takes the completions that the set-up left. */
  private static boolean settled(Ends.Link link) {
    long before = line(link.receiver(), NEWS);
    link.sender().progress();
    link.receiver().progress();
    return line(link.receiver(), NEWS) == before;
  }

  private static long line(Communicator end, int offset) {
    return Memory.getLong(end.address() + offset);
  }

  private static int looksAt(DeviceContext device, RecvComm receiver) {
    long before = device.progressedAtNs();
    assertEquals(0, receiver.progress());
    return device.progressedAtNs() == before ? 0 : 1;
  }
}
