package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.LiveHeap;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.verbs.testing.LoopbackFabric;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Fuzz test of a live listener and a live reconnect listener, over real sockets: noise, truncated
 * frames, impossible lengths, wrong tokens, hellos replayed and changed. No thread ends, nothing
 * grows, and a peer connects afterwards.
 *
 * <p>{@code -Dheddle.fuzz.inputs=100000} runs more inputs; {@code -Dheddle.fuzz.seed} repeats a
 * run.
 */
class UnauthenticatedChannelsFuzzTest {
  private static final int INPUTS = Integer.getInteger("heddle.fuzz.inputs", 3_000);
  private static final long SEED =
      Long.getLong("heddle.fuzz.seed", System.nanoTime() & Integer.MAX_VALUE);
  private static final long SOME_BYTES = 4 << 20;
  private static final int SOME_DESCRIPTORS = 16;
  private static final int LIMIT_MS = 30_000;
  private static final long POLL_PERIOD_NS = 20_000_000;

  @TempDir Path folder;

  private final Random random = new Random(SEED);
  private byte[] token = {};
  private final List<String> notTaken = new ArrayList<>();
  private int sent;

  @FunctionalInterface
  private interface Measured {
    long now() throws IOException;
  }

  @Test
  void fuzzedInputEndsNoThreadAndLeaksNothing() throws IOException {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    try (Ends ends = new Ends(new LoopbackFabric(1), folder, List.of(1), List.of(1), Map.of());
        Ends.Link link = ends.connect()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      ConnectionHandle read = Objects.requireNonNull(ConnectionHandle.read(handle));
      token = read.token();
      List<InetSocketAddress> ports =
          Stream.concat(read.addresses().stream(), ends.right.reconnectAddresses().stream())
              .filter(port -> port.getAddress() instanceof Inet4Address)
              .toList();
      assertTrue(ports.size() > 1, "a listener and a door");
      /* The first inputs leave permanent state: classes, compiled code, distinct lines. */
      send(ends, listener, ports, INPUTS / 10);
      long heap = LiveHeap.bytes();
      int descriptors = descriptors();
      List<String> threads = threadsSince(before);
      send(ends, listener, ports, INPUTS - INPUTS / 10);
      String seed = "seed " + SEED;
      assertEquals(INPUTS, sent, seed + ": calls that were taken; not taken: " + notTaken);
      assertEquals(threads, threadsSince(before), seed);
      assertFallsBelow(SOME_DESCRIPTORS, () -> descriptors() - descriptors, "descriptors");
      long grown = assertFallsBelow(SOME_BYTES, () -> LiveHeap.bytes() - heap, "bytes on the heap");
      assertTrue(
          ends.log.stream().noneMatch(line -> line.contains("heddle-control: ")),
          () -> seed + ": " + ends.log);
      System.out.println(INPUTS + " inputs, " + grown + " bytes more on the heap, " + seed);
      ends.exchange(link, 1000, 1000, 1);
      try (Ends.Link next = connect(ends, listener, handle)) {
        ends.exchange(next, 1000, 1000, 2);
      }
    } catch (AssertionError | RuntimeException failure) {
      throw new AssertionError("seed " + SEED + ", " + INPUTS + " inputs", failure);
    }
  }

  /*
   * Asserts that the number falls below the limit in time: the last clients are still being closed
   * while the control thread waits for a processor.
   */
  private static long assertFallsBelow(long limit, Measured more, String what) throws IOException {
    Deadline deadline = Deadline.ofSeconds(20);
    long now = more.now();
    while (now >= limit && !deadline.isOver()) {
      LockSupport.parkNanos(POLL_PERIOD_NS);
      now = more.now();
    }
    assertTrue(now < limit, "seed " + SEED + ": " + now + " more " + what);
    return now;
  }

  /*
   * Connects a peer. Accept may fail before: a client that had the token and disconnected has five
   * seconds to reconnect; then accept returns its failure.
   */
  private static Ends.Link connect(Ends ends, ListenComm listener, long handle) {
    SendComm[] sender = new SendComm[1];
    RecvComm[] receiver = new RecvComm[1];
    Ends.await(
        "a peer's connection",
        () -> {
          sender[0] = sender[0] == null ? ends.left.connect(0, -1, handle) : sender[0];
          try {
            receiver[0] = receiver[0] == null ? ends.right.accept(listener) : receiver[0];
          } catch (HeddleException ofSomebodyElse) {
            return false;
          }
          return sender[0] != null && receiver[0] != null;
        });
    return ends.link(sender[0], receiver[0], listener);
  }

  private void send(Ends ends, ListenComm listener, List<InetSocketAddress> ports, int inputs)
      throws IOException {
    for (int i = 0; i < inputs; i++) {
      send(ports.get(random.nextInt(ports.size())), input());
      if (i % 64 == 0) {
        takeFailures(ends, listener);
      }
    }
    takeFailures(ends, listener);
  }

  /*
   * Takes the failures that accept throws, one for each client that had the token and disconnected.
   */
  private static void takeFailures(Ends ends, ListenComm listener) {
    for (boolean more = true; more; ) {
      try {
        more = ends.right.accept(listener) != null;
      } catch (HeddleException one) {
        more = true;
      }
    }
    ends.log.removeIf(line -> line.contains("at a control port") || line.startsWith("INFO"));
  }

  /*
   * Half of the clients wait until the process closes their connections, as it does at once after
   * invalid bytes; the other clients close first.
   */
  private void send(InetSocketAddress to, byte[] bytes) throws IOException {
    try (Socket socket = new Socket()) {
      socket.setOption(StandardSocketOptions.SO_LINGER, 0);
      socket.bind(new InetSocketAddress(address(), 0));
      connect(socket, to);
      socket.setSoTimeout(1 + random.nextInt(3));
      socket.getOutputStream().write(bytes);
      if (random.nextBoolean()) {
        while (socket.getInputStream().read() >= 0) {
          continue;
        }
      }
    } catch (SocketException | SocketTimeoutException hungUp) {
      /* The process may close the connection at any moment. */
    }
  }

  private void connect(Socket socket, InetSocketAddress to) throws IOException {
    try {
      socket.connect(to, LIMIT_MS);
      sent++;
    } catch (IOException refused) {
      notTaken.add(to + ": " + refused);
      throw refused;
    }
  }

  /* Returns one of many loopback addresses, so that the clients don't run out of ports. */
  private InetAddress address() throws IOException {
    return InetAddress.getByAddress(
        new byte[] {127, (byte) (1 + random.nextInt(60)), (byte) random.nextInt(250), 1});
  }

  private byte[] input() {
    byte[] hello =
        frame(new ControlMessage.Hello(ControlCodec.VERSION, 0, token, random.nextInt()));
    return switch (random.nextInt(9)) {
      case 0 -> noise(random.nextInt(400));
      case 1 -> Arrays.copyOf(hello, random.nextInt(hello.length));
      case 2 -> length(random.nextInt(), random.nextInt(100));
      case 3 -> length(ControlCodec.MAX_FRAME_BYTES - 2 + random.nextInt(4), 8);
      case 4 -> ByteBuffer.allocate(24).putLong(random.nextLong()).putLong(Long.MAX_VALUE).array();
      case 5 ->
          frame(new ControlMessage.Hello(ControlCodec.VERSION, 0, noise(16), random.nextInt()));
      case 6 -> frame(new ControlMessage.Hello(ControlCodec.VERSION, 0, token, 7));
      case 7 -> changed(hello);
      default -> twice(hello, changed(hello));
    };
  }

  private byte[] noise(int bytes) {
    byte[] noise = new byte[bytes];
    random.nextBytes(noise);
    return noise;
  }

  private byte[] length(int length, int bytes) {
    return ByteBuffer.allocate(4 + bytes).putInt(length).put(noise(bytes)).array();
  }

  private byte[] changed(byte[] frame) {
    byte[] changed = frame.clone();
    for (int i = random.nextInt(4); i >= 0; i--) {
      changed[random.nextInt(changed.length)] = (byte) random.nextInt();
    }
    return changed;
  }

  private static byte[] twice(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }

  private static byte[] frame(ControlMessage message) {
    ByteBuffer frame = ControlCodec.encode(message, ControlCodec.newFrame());
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
  }

  private static int descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return (int) open.count();
    }
  }

  /* Threads of other tests in this process end at any time. */
  private static List<String> threadsSince(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.startsWith("heddle-"))
        .sorted()
        .toList();
  }
}
