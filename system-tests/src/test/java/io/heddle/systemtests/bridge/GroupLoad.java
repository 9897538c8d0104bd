package io.heddle.systemtests.bridge;

import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Program in the role of a host in both fabrics. It sends numbered payloads to a group in each
 * fabric at a constant rate, and counts how often each arrives in the other fabric: {@code
 * GroupLoad GROUP MICROSECONDS KIND END ADDRESS KIND END ADDRESS}. {@code MICROSECONDS} is the time
 * between two payloads. The rest is a port in fabric a and one in fabric b. A comma and the group's
 * name in that fabric may follow an address. Until it is killed, the program prints its counts by
 * source fabric, and the longest gap between payloads since the last line.
 *
 * <p>With a device of the stand-in for libibverbs, the sending thread itself delivers a datagram to
 * one receiver after another. No switch would pause between two receivers, so the thread has a
 * real-time priority.
 *
 * <pre>
 *  0       4       8      16
 * |"LOAD"  |side   |number |bytes that follow from the number ...
 * </pre>
 */
public final class GroupLoad {
  /* Names of the two directions, by source fabric. */
  private static final List<String> DIRECTIONS = List.of("from-a", "from-b");

  private static final int MARK = 0x4c4f_4144;
  private static final int BYTES = 100;
  /* Number of polls between two payloads. The thread sleeps between polls. */
  private static final int NAPS = 20;
  private static final int REPORT_AFTER = 20;

  private final List<GroupPort> ports;
  private final long paceNs;
  private final List<Direction> directions = List.of(new Direction(), new Direction());
  private final ByteBuffer room = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.BIG_ENDIAN);

  /* Payloads that were sent into one fabric and received from the other. */
  private static final class Direction {
    private static final int MOST = 1 << 20;

    private final byte[] times = new byte[MOST];
    private int sent;
    private int newest = -1;
    private int duplicates;
    private int received;
    private long receivedNs;
    private long longestPauseNs;

    void countReceived(int number, long nowNs) {
      times[number]++;
      duplicates += times[number] > 1 ? 1 : 0;
      received += times[number] == 1 ? 1 : 0;
      newest = Math.max(newest, number);
      longestPauseNs = Math.max(longestPauseNs, receivedNs == 0 ? 0 : nowNs - receivedNs);
      receivedNs = nowNs;
    }

    /*
     * Returns the counts. Payloads before the first arrival don't count, since no bridge may have
     * forwarded the group yet.
     */
    String counts() {
      int first = 0;
      while (first < newest && times[first] == 0) {
        first++;
      }
      long pauseNs = longestPauseNs;
      longestPauseNs = 0;
      return String.format(
          Locale.ROOT,
          "sent %d newest %d twice %d lost %d pauseUs %d",
          sent,
          newest,
          duplicates,
          newest < 0 ? 0 : newest + 1 - first - received,
          pauseNs / 1000);
    }
  }

  private GroupLoad(List<GroupPort> ports, long paceNs) {
    this.ports = ports;
    this.paceNs = paceNs;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    GroupName group = GroupName.of(arguments[0]);
    long paceNs = TimeUnit.MICROSECONDS.toNanos(Long.parseLong(arguments[1]));
    List<GroupPort> ports = new ArrayList<>();
    for (int i = 2; i < arguments.length; i += 3) {
      String[] own = arguments[i + 2].split(",");
      GroupName there = own.length == 1 ? group : GroupName.of(own[1]);
      ports.add(GroupPort.open(arguments[i], arguments[i + 1], address(own[0]), List.of(there)));
    }
    raisePriority();
    new GroupLoad(ports, paceNs).run();
  }

  private static Gid address(String text) throws IOException {
    return Gid.of(InetAddress.getByName(text));
  }

  /*
   * Gives this thread a real-time priority. The JVM's other threads, such as the compiler's, keep
   * theirs.
   */
  private static void raisePriority() throws IOException, InterruptedException {
    String thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
    Process chrt = new ProcessBuilder("chrt", "-f", "-p", "1", thread).inheritIO().start();
    if (chrt.waitFor() != 0) {
      throw new IOException("chrt can't give a thread a priority");
    }
  }

  private void run() throws IOException {
    long sendNs = System.nanoTime();
    long tellNs = sendNs;
    for (; ; ) {
      for (int side = 0; side < ports.size(); side++) {
        int from = 1 - side;
        ports.get(side).poll((payload, hasImmediate, immediate) -> take(from, payload));
      }
      long now = System.nanoTime();
      if (now - sendNs >= 0) {
        send(0);
        send(1);
        /* After a pause of this thread, the missed payloads are left out. */
        sendNs = now + paceNs;
      }
      if (now - tellNs >= 0) {
        for (int from = 0; from < directions.size(); from++) {
          System.out.println(DIRECTIONS.get(from) + " " + directions.get(from).counts());
        }
        tellNs = now + REPORT_AFTER * paceNs;
      }
      LockSupport.parkNanos(paceNs / NAPS);
    }
  }

  private static byte pattern(int number, int position) {
    return (byte) ((number + 1L) * 0x9e37_79b1L + position * 31L >>> 5);
  }

  private void send(int side) throws IOException {
    Direction direction = directions.get(side);
    if (direction.sent == Direction.MOST) {
      throw new IOException("nobody has ended this load");
    }
    room.clear().putInt(MARK).putInt(side).putLong(direction.sent);
    while (room.hasRemaining()) {
      room.put(pattern(direction.sent, room.position()));
    }
    ports.get(side).send(0, room.flip(), false, 0);
    direction.sent++;
  }

  /*
   * Counts the arrival of a payload. A device also delivers the payloads that this program sent by
   * it.
   */
  private void take(int from, ByteBuffer payload) {
    payload.order(ByteOrder.BIG_ENDIAN);
    if (payload.remaining() != BYTES || payload.getInt() != MARK) {
      throw new IllegalStateException("a payload of nobody's");
    }
    int side = payload.getInt();
    int number = (int) payload.getLong();
    while (payload.hasRemaining()) {
      int position = payload.position();
      if (payload.get() != pattern(number, position)) {
        throw new IllegalStateException("a byte of " + number + " is wrong");
      }
    }
    if (side == from) {
      directions.get(from).countReceived(number, System.nanoTime());
    }
  }
}
