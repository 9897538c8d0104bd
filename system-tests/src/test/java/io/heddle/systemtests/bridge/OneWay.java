package io.heddle.systemtests.bridge;

import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Program in the role of a host that only sends numbered datagrams to a group, or only receives
 * them: {@code OneWay send|hear KIND END ADDRESS GROUP HOPS COUNT SECONDS}. It succeeds when all
 * datagrams were sent, or have arrived once and in order.
 */
public final class OneWay {
  private static final int BYTES = 64;

  private long next;

  private OneWay() {}

  public static void main(String[] arguments) throws IOException {
    Gid own = Gid.of(InetAddress.getByName(arguments[3]));
    List<GroupName> groups = List.of(GroupName.of(arguments[4]));
    int hops = Integer.parseInt(arguments[5]);
    int count = Integer.parseInt(arguments[6]);
    Deadline deadline = Deadline.ofSeconds(Integer.parseInt(arguments[7]));
    try (GroupPort port =
        arguments[1].equals("verbs")
            ? new VerbsGroupPort(arguments[2], own, groups, hops)
            : new WireGroupPort(arguments[2], own, GroupName.addresses(groups))) {
      OneWay program = new OneWay();
      if (arguments[0].equals("send")) {
        program.send(port, count);
      } else {
        program.receive(port, count, deadline);
      }
    }
  }

  private void send(GroupPort port, int count) throws IOException {
    ByteBuffer payload = ByteBuffer.allocateDirect(BYTES);
    while (next < count) {
      port.send(0, payload.clear().putLong(0, next++), false, 0);
    }
    /* Polls until the device has sent all datagrams. */
    port.poll((ignored, hasImmediate, immediate) -> {});
  }

  private void receive(GroupPort port, int count, Deadline deadline) throws IOException {
    System.out.println("listening");
    while (next < count) {
      if (deadline.isOver()) {
        throw new IllegalStateException(next + " of " + count + " have come");
      }
      port.poll(this::take);
      LockSupport.parkNanos(10_000);
    }
  }

  private void take(ByteBuffer payload, boolean hasImmediate, int immediate) {
    long number = payload.getLong();
    if (number != next || payload.remaining() != BYTES - Long.BYTES) {
      throw new IllegalStateException(number + " came in the place of " + next);
    }
    next++;
  }
}
