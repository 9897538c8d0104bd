package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Random;

/** Messages in flight on one connection, each checked on arrival. */
final class Traffic {
  private static final int LENGTH = 3_000_000;
  private static final int AHEAD = 6;

  private record Message(long send, long receive, int at, int lengthBytes, int seed) {}

  private final Ends.Link link;
  private final Ends ends;
  private final Random random;
  private final long from;
  private final long to;
  private final long fromHandle;
  private final long toHandle;
  private final ArrayDeque<Message> underWay = new ArrayDeque<>();
  private final ArrayDeque<long[]> receives = new ArrayDeque<>();
  private int posted;
  int arrived;

  Traffic(Ends ends, Ends.Link link, long seed) {
    this.ends = ends;
    this.link = link;
    random = new Random(seed);
    from = ends.memory((long) AHEAD * LENGTH);
    to = ends.memory((long) AHEAD * LENGTH);
    fromHandle = link.sender().registerMemory(from, (long) AHEAD * LENGTH, 1);
    toHandle = link.receiver().registerMemory(to, (long) AHEAD * LENGTH, 1);
  }

  /*
   * Does one pass of NCCL's work: posts as much as possible, drives both ends, takes finished
   * requests.
   */
  void drive(boolean more) {
    if (more && underWay.size() + receives.size() < AHEAD) {
      int length = random.nextInt(4) == 0 ? random.nextInt(100) : random.nextInt(LENGTH);
      long place = to + (long) (posted % AHEAD) * LENGTH;
      long receive = ends.tryReceive(link, place, LENGTH, 1, toHandle);
      assertTrue(receive >= 0, () -> "irecv returned " + receive + ends.log);
      if (receive > 0) {
        Ends.fill(from + (long) (posted % AHEAD) * LENGTH, length, posted);
        receives.add(new long[] {receive, posted % AHEAD, length, posted++});
      }
    }
    long[] next = receives.peek();
    if (next != null) {
      long send = link.sender().isend(from + next[1] * LENGTH, next[2], 1, fromHandle);
      assertTrue(send >= 0, () -> "isend returned " + send + ends.log);
      if (send > 0) {
        receives.remove();
        underWay.add(new Message(send, next[0], (int) next[1], (int) next[2], (int) next[3]));
      }
    }
    assertEquals(0, link.sender().progress(), () -> ends.log.toString());
    assertEquals(0, link.receiver().progress(), () -> ends.log.toString());
    Message oldest = underWay.peek();
    if (oldest != null && Ends.isDone(oldest.send) && Ends.isDone(oldest.receive)) {
      underWay.remove();
      Ends.check(to + (long) oldest.at * LENGTH, oldest.lengthBytes, oldest.seed);
      assertEquals(oldest.lengthBytes, Ends.size(oldest.receive, 0));
      Ends.release(oldest.send);
      Ends.release(oldest.receive);
      arrived++;
    }
  }

  void run(int messages) {
    int goal = arrived + messages;
    Ends.await(
        messages + " messages",
        () -> {
          drive(true);
          return arrived >= goal;
        });
  }

  void finish() {
    Ends.await(
        "the last messages",
        () -> {
          drive(false);
          return underWay.isEmpty() && receives.isEmpty();
        });
    assertEquals(0, link.sender().deregisterMemory(fromHandle));
    assertEquals(0, link.receiver().deregisterMemory(toHandle));
  }
}
