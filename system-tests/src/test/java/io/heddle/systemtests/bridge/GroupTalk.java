package io.heddle.systemtests.bridge;

import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Program in the role of one of two hosts that exchange datagrams over multicast groups: {@code
 * GroupTalk KIND END ME COUNT SECONDS ADDRESS,GROUP,... ADDRESS,GROUP,...}, with one list for IPv4
 * and one for IPv6. Each host sends numbered payloads of many lengths to each group. It must
 * receive all payloads of the other host, in order and once. Each host acknowledges payloads, so
 * that the other one doesn't fill the buffers. The program succeeds when both hosts have received
 * everything.
 *
 * <pre>
 *  0       4       8      12      20     28
 * |"TALK"  |sender |group  |number |heard |bytes that follow from the number ...
 * </pre>
 */
public final class GroupTalk {
  private static final int MARK = 0x5441_4c4b;
  private static final int HEAD_BYTES = 28;
  private static final int WINDOW = 48;
  private static final int ACKNOWLEDGE_AFTER = 16;
  private static final long SILENCE_NS = 20_000_000;
  /* Number of a datagram that carries only an acknowledgement. */
  private static final long NO_NUMBER = -1;

  private final GroupPort port;
  private final int me;
  private final long count;
  private final long[] sent;
  private final long[] received;
  private final long[] receivedByPeer;
  private final ByteBuffer room;
  private long lastSentNs;
  private int unacknowledged;
  private long words;

  private GroupTalk(GroupPort port, int me, int groups, long count) {
    this.port = port;
    this.me = me;
    this.count = count;
    sent = new long[groups];
    received = new long[groups];
    receivedByPeer = new long[groups];
    room = ByteBuffer.allocateDirect(port.mostBytes()).order(ByteOrder.BIG_ENDIAN);
    /* The other host hasn't started, as far as this host knows, before its first datagram. */
    Arrays.fill(receivedByPeer, Long.MIN_VALUE);
  }

  public static void main(String[] arguments) throws IOException {
    int me = Integer.parseInt(arguments[2]);
    long count = Long.parseLong(arguments[3]);
    int seconds = Integer.parseInt(arguments[4]);
    List<GroupTalk> talks = new ArrayList<>();
    for (int i = 5; i < arguments.length; i++) {
      List<GroupName> names = new ArrayList<>();
      for (String each : arguments[i].split(",")) {
        names.add(GroupName.of(each));
      }
      Gid own = names.removeFirst().address();
      GroupPort port = GroupPort.open(arguments[0], arguments[1], own, names);
      talks.add(new GroupTalk(port, me, names.size(), count));
    }
    Deadline deadline = Deadline.ofSeconds(seconds);
    boolean all = false;
    while (!all) {
      if (deadline.isOver()) {
        throw new IllegalStateException("still talking after " + seconds + " s: " + talks);
      }
      all = true;
      for (GroupTalk each : talks) {
        all &= each.round();
      }
      LockSupport.parkNanos(10_000);
    }
    for (GroupTalk each : talks) {
      each.repeatLastAcknowledgements();
    }
    System.out.println("all right: " + talks);
    for (GroupTalk each : talks) {
      each.port.close();
    }
  }

  @Override
  public String toString() {
    return "sent "
        + Arrays.toString(sent)
        + " heard "
        + Arrays.toString(received)
        + " they heard "
        + Arrays.toString(receivedByPeer);
  }

  /* Receives and sends what is due. Returns whether both hosts have received all payloads. */
  private boolean round() throws IOException {
    port.poll(this::take);
    for (int group = 0; group < sent.length; group++) {
      while (sent[group] < count
          && receivedByPeer[group] >= 0
          && sent[group] - receivedByPeer[group] < WINDOW) {
        send(group, sent[group]++);
      }
    }
    if (unacknowledged >= ACKNOWLEDGE_AFTER || System.nanoTime() - lastSentNs > SILENCE_NS) {
      sendAcknowledgement();
    }
    for (int group = 0; group < sent.length; group++) {
      if (received[group] < count || receivedByPeer[group] < count) {
        return false;
      }
    }
    return true;
  }

  private void sendAcknowledgement() throws IOException {
    for (int group = 0; group < sent.length; group++) {
      send(group, NO_NUMBER);
    }
    unacknowledged = 0;
    lastSentNs = System.nanoTime();
  }

  /*
   * Repeats the last acknowledgements, since the other host may not know yet that all its payloads
   * have arrived.
   */
  private void repeatLastAcknowledgements() throws IOException {
    for (int i = 0; i < ACKNOWLEDGE_AFTER; i++) {
      sendAcknowledgement();
      LockSupport.parkNanos(SILENCE_NS);
      port.poll((payload, hasImmediate, immediate) -> {});
    }
  }

  private int lengthOf(long number) {
    int more = port.mostBytes() - HEAD_BYTES;
    return HEAD_BYTES + (number == NO_NUMBER ? 8 : (int) (number * 37 % Math.min(more, 900)));
  }

  private static byte pattern(long number, int position) {
    return (byte) ((number + 1) * 0x9e37_79b1L + position * 31L >>> 5);
  }

  private static boolean hasImmediate(long number) {
    return number >= 0 && number % 5 == 3;
  }

  private void send(int group, long number) throws IOException {
    int length = lengthOf(number);
    room.clear().limit(length);
    room.putInt(MARK).putInt(me).putInt(group).putLong(number).putLong(received[group]);
    if (number == NO_NUMBER) {
      /* No two payloads are equal, since a bridge would drop the second one as a duplicate. */
      room.putLong(words++);
    }
    while (room.hasRemaining()) {
      room.put(pattern(number, room.position()));
    }
    port.send(group, room.flip(), hasImmediate(number), (int) number);
  }

  private void take(ByteBuffer payload, boolean hasImmediate, int immediate) {
    payload.order(ByteOrder.BIG_ENDIAN);
    int length = payload.remaining();
    if (payload.getInt() != MARK) {
      throw new IllegalStateException("a payload of nobody's, " + length + " bytes");
    }
    if (payload.getInt() == me) {
      return;
    }
    int group = payload.getInt();
    long number = payload.getLong();
    receivedByPeer[group] = Math.max(receivedByPeer[group], payload.getLong());
    if (number == NO_NUMBER) {
      return;
    }
    if (number != received[group]
        || length != lengthOf(number)
        || hasImmediate != hasImmediate(number)
        || hasImmediate && immediate != (int) number) {
      throw new IllegalStateException(
          "group "
              + group
              + ": "
              + number
              + " came after "
              + (received[group] - 1)
              + ", "
              + length
              + " bytes, immediate "
              + hasImmediate
              + " "
              + immediate);
    }
    while (payload.hasRemaining()) {
      int position = payload.position();
      if (payload.get() != pattern(number, position)) {
        throw new IllegalStateException("group " + group + ": a byte of " + number + " is wrong");
      }
    }
    received[group]++;
    unacknowledged++;
  }
}
