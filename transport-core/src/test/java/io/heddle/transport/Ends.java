package io.heddle.transport;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.connection.ControlSession;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.Providers;
import io.heddle.verbs.Gid;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Two transports in one process, driven by the test's thread as NCCL drives two ranks. */
public final class Ends implements AutoCloseable {
  /** Property with the number of this JVM among those that run a module's tests concurrently. */
  static final String FORK = "heddle.test.fork";

  /**
   * Network of the soft devices: concurrent tests share the host's ports, and so need separate
   * addresses.
   */
  static final String SOFT_NETWORK = "127." + Integer.getInteger(FORK, 1);

  static final int MAX_RECEIVES = 8;
  private static final int RELEASED = 2;
  private static final int DONE = 1;

  /** One connection between the two transports. */
  record Link(
      SendComm sender,
      RecvComm receiver,
      ListenComm listener,
      Connection sending,
      Connection receiving)
      implements AutoCloseable {
    @Override
    public void close() {
      sender.close();
      receiver.close();
      listener.close();
    }
  }

  final List<String> log = new CopyOnWriteArrayList<>();

  /**
   * Errors to inject, by a part of a log line. Logging such a line throws the error once, in the
   * thread that logs it.
   */
  final Map<String, Error> thrownAt = new ConcurrentHashMap<>();

  final Arena arena = Arena.ofShared();
  final Transport left;
  final Transport right;
  final Path leftStats;

  /* Scratch for irecv's arrays. */
  private final long arrays = Memory.allocate(arena, 4L * MAX_RECEIVES * Long.BYTES, 64);

  /**
   * Opens both transports.
   *
   * @param fabric the network of both devices; null for the soft device on IPv4 loopback
   * @param leftPlanes numbers of the planes on the left: plane 3 there is 127.0.77.3, on the right
   *     127.0.78.3; soft devices use {@link #SOFT_NETWORK} in place of 127.0
   * @param more settings for both
   */
  Ends(
      @Nullable LoopbackFabric fabric,
      Path folder,
      List<Integer> leftPlanes,
      List<Integer> rightPlanes,
      Map<String, String> more) {
    this(fabric, folder, leftPlanes, rightPlanes, more, more);
  }

  /** Opens both transports, with settings for each. */
  Ends(
      @Nullable LoopbackFabric fabric,
      Path folder,
      List<Integer> leftPlanes,
      List<Integer> rightPlanes,
      Map<String, String> leftMore,
      Map<String, String> rightMore) {
    leftStats = folder.resolve("left");
    String network = fabric == null ? SOFT_NETWORK : "127.0";
    Devices devices = fabric == null ? null : gids -> new LoopbackProvider(fabric, gids);
    left = open(devices, leftStats, network + ".77.", leftPlanes, leftMore);
    right = open(devices, folder.resolve("right"), network + ".78.", rightPlanes, rightMore);
  }

  /** Opens both transports with the same planes, on devices that have these limits. */
  Ends(
      LoopbackFabric fabric,
      Path folder,
      List<Integer> planes,
      Map<String, String> more,
      LoopbackProvider.Limits limits) {
    leftStats = folder.resolve("left");
    Devices devices = gids -> new LoopbackProvider(fabric, gids, limits);
    left = open(devices, leftStats, "127.0.77.", planes, more);
    right = open(devices, folder.resolve("right"), "127.0.78.", planes, more);
  }

  /** Factory of one end's provider. */
  private interface Devices {
    LoopbackProvider with(List<Gid> gids);
  }

  private Transport open(
      @Nullable Devices devices,
      Path stats,
      String network,
      List<Integer> planes,
      Map<String, String> more) {
    List<Gid> gids = new ArrayList<>();
    List<String> rules = new ArrayList<>();
    for (int plane : planes) {
      gids.add(gid(network + plane));
      rules.add(network + plane + "=" + plane);
    }
    Map<String, String> environment = new HashMap<>();
    environment.put("HEDDLE_PLANES", String.join(",", rules));
    environment.put("HEDDLE_STATS_DIR", stats.toString());
    environment.put("NCCL_SOCKET_IFNAME", "lo");
    environment.put("HEDDLE_ROUTES", "none");
    environment.putAll(more);
    Providers providers =
        devices == null ? Providers.ofThisBuild() : new Providers(List.of(devices.with(gids)));
    environment.putIfAbsent("HEDDLE_PROVIDER", devices == null ? "soft" : "auto");
    Log collecting =
        (level, sentence) -> {
          log.add(level + " " + sentence);
          for (String part : thrownAt.keySet()) {
            Error error = sentence.contains(part) ? thrownAt.remove(part) : null;
            if (error != null) {
              throw error;
            }
          }
        };
    return Transport.open(environment, collecting, () -> providers);
  }

  public static Gid gid(String address) {
    try {
      return Gid.of(InetAddress.getByName(address));
    } catch (UnknownHostException impossible) {
      throw new IllegalArgumentException(address, impossible);
    }
  }

  long handle() {
    return Memory.allocate(arena, ConnectionHandle.BYTES, 8);
  }

  /** Connects a sender on the left with a receiver on the right. */
  Link connect() {
    long handle = handle();
    ListenComm listener = right.listen(0, handle);
    return connect(listener, handle);
  }

  Link connect(ListenComm listener, long handle) {
    SendComm[] sender = new SendComm[1];
    RecvComm[] receiver = new RecvComm[1];
    await(
        "both ends of a connection",
        () -> {
          if (sender[0] == null) {
            sender[0] = left.connect(0, -1, handle);
          }
          if (receiver[0] == null) {
            receiver[0] = right.accept(listener);
          }
          return sender[0] != null && receiver[0] != null;
        });
    return link(sender[0], receiver[0], listener);
  }

  /** Makes a link of these ends. */
  Link link(SendComm sender, RecvComm receiver, ListenComm listener) {
    return new Link(
        sender, receiver, listener, connection(left, sender), connection(right, receiver));
  }

  private static Connection connection(Transport of, Communicator end) {
    return of.devices().stream()
        .flatMap(device -> device.connections().stream())
        .map(Connection.class::cast)
        .filter(each -> each.memory().commAddress() == end.address())
        .findFirst()
        .orElseThrow();
  }

  /** Returns this end's control session with the other end. */
  static ControlSession session(Connection end) {
    return (ControlSession) Objects.requireNonNull(end.failover()).peer();
  }

  static void await(String what, BooleanSupplier there) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (!there.getAsBoolean()) {
      if (deadline.isOver()) {
        fail("no " + what + " within " + deadline);
      }
    }
  }

  /** Returns the only line of the log that contains this text. */
  String line(String part) {
    List<String> found = log.stream().filter(each -> each.contains(part)).toList();
    assertEquals(1, found.size(), () -> "lines with '" + part + "' in " + log);
    return found.getFirst();
  }

  /** Waits until the log has a line that contains this text. */
  void awaitLine(String part) {
    await("line with '" + part + "'", () -> log.stream().anyMatch(line -> line.contains(part)));
  }

  long memory(long lengthBytes) {
    return Memory.allocate(arena, Math.max(lengthBytes, 1), 4096);
  }

  static void fill(long address, int lengthBytes, int seed) {
    for (int i = 0; i < lengthBytes; i++) {
      Memory.ALL.set(JAVA_BYTE, address + i, pattern(i, seed));
    }
  }

  static void check(long address, int lengthBytes, int seed) {
    for (int i = 0; i < lengthBytes; i++) {
      byte there = Memory.ALL.get(JAVA_BYTE, address + i);
      if (there != pattern(i, seed)) {
        fail("byte %s of %s is %s, not %s".formatted(i, lengthBytes, there, pattern(i, seed)));
      }
    }
  }

  private static byte pattern(int position, int seed) {
    int mixed = (position + 1) * 0x9e3779b1 ^ seed * 0x85ebca6b;
    return (byte) (mixed >>> 24 ^ mixed >>> 8);
  }

  /**
   * Posts one receive of one buffer as soon as possible; returns the request or a negated result.
   */
  long receive(Link link, long address, long lengthBytes, int tag, long handle) {
    return receive(link, new long[] {address}, new long[] {lengthBytes}, new int[] {tag}, handle);
  }

  /** Posts a group of receives, all in the same registration. */
  long receive(Link link, long[] addresses, long[] lengths, int[] tags, long handle) {
    fillArrays(arrays, addresses, lengths, tags, handle);
    return receive(link, addresses.length, arrays);
  }

  /*
   * Posts the receives. Repeats irecv while it would block, for example because another thread
   * holds the connection's baton.
   */
  private static long receive(Link link, int n, long arrays) {
    long[] request = new long[1];
    await(
        "receive",
        () -> {
          request[0] = link.receiver().irecv(n, arrays, arrays + 64, arrays + 128, arrays + 192);
          return request[0] != 0;
        });
    return request[0];
  }

  /** Tries one receive of one buffer; returns the request, 0 or a negated result. */
  long tryReceive(Link link, long address, long lengthBytes, int tag, long handle) {
    long filled = arrays(address, lengthBytes, tag, handle);
    return link.receiver().irecv(1, filled, filled + 64, filled + 128, filled + 192);
  }

  /** Returns irecv's arrays for one buffer, 64 bytes each: addresses, sizes, tags, handles. */
  long arrays(long address, long lengthBytes, int tag, long handle) {
    fillArrays(arrays, new long[] {address}, new long[] {lengthBytes}, new int[] {tag}, handle);
    return arrays;
  }

  private static void fillArrays(
      long arrays, long[] addresses, long[] lengths, int[] tags, long handle) {
    long sizes = arrays + MAX_RECEIVES * Long.BYTES;
    long tagArray = sizes + MAX_RECEIVES * Long.BYTES;
    long handles = tagArray + MAX_RECEIVES * Long.BYTES;
    for (int i = 0; i < addresses.length; i++) {
      Memory.ALL.set(Memory.NATIVE_LONG, arrays + i * 8L, addresses[i]);
      Memory.ALL.set(Memory.NATIVE_LONG, sizes + i * 8L, lengths[i]);
      Memory.ALL.set(JAVA_INT, tagArray + i * 4L, tags[i]);
      Memory.ALL.set(Memory.NATIVE_LONG, handles + i * 8L, handle);
    }
  }

  /**
   * Posts a send as soon as the receiver allows it, and returns the request. The message may arrive
   * later.
   */
  static long send(Link link, long address, long lengthBytes, int tag, long handle) {
    long[] request = new long[1];
    await(
        "clear to send",
        () -> {
          request[0] = link.sender().isend(address, lengthBytes, tag, handle);
          if (request[0] == 0) {
            progress(link);
          }
          return request[0] != 0;
        });
    assertTrue(request[0] > 0, "isend returned " + request[0]);
    return request[0];
  }

  static void progress(Link link) {
    assertEquals(0, link.receiver().progress(), "receiver's progress");
    assertEquals(0, link.sender().progress(), "sender's progress");
  }

  static int state(long request) {
    return Memory.getIntAcquire(request);
  }

  /**
   * Repeats a test that interrupts a transfer, until a transfer was interrupted. On a busy machine
   * a transfer may be over before.
   *
   * @param attempt one test; returns whether it interrupted its transfer
   */
  static void repeatUntilInterrupted(Callable<Boolean> attempt) throws Exception {
    for (int tries = 0; tries < 20; tries++) {
      if (attempt.call()) {
        return;
      }
    }
    throw new AssertionError("each transfer was over before it was interrupted");
  }

  static boolean isDone(long request) {
    int state = state(request);
    assertTrue(state >= 0, "the request failed with " + -state);
    return state == DONE;
  }

  static int size(long request, int index) {
    return Memory.ALL.get(JAVA_INT, request + 8 + 4L * index);
  }

  static int count(long request) {
    return Memory.ALL.get(JAVA_INT, request + 4);
  }

  /** Releases a finished request's line, as the shim does once test has returned the result. */
  static void release(long request) {
    Memory.setIntRelease(request, RELEASED);
  }

  /** Waits until a request is done, and releases it. */
  static void finish(Link link, long request) {
    await(
        "completion",
        () -> {
          progress(link);
          return isDone(request);
        });
    release(request);
  }

  /**
   * Sends messages one after the other through one pair of buffers and checks each; for a separate
   * thread.
   */
  void traffic(Link link, int messages, int lengthBytes) {
    try (Arena own = Arena.ofConfined()) {
      long from = Memory.allocate(own, lengthBytes, 4096);
      long to = Memory.allocate(own, lengthBytes, 4096);
      long ownArrays = Memory.allocate(own, 256, 64);
      long fromHandle = link.sender().registerMemory(from, lengthBytes, 1);
      long toHandle = link.receiver().registerMemory(to, lengthBytes, 1);
      fillArrays(ownArrays, new long[] {to}, new long[] {lengthBytes}, new int[] {1}, toHandle);
      for (int i = 0; i < messages; i++) {
        fill(from, lengthBytes, i);
        long receive = receive(link, 1, ownArrays);
        assertTrue(receive > 0, "irecv returned " + receive);
        finish(link, send(link, from, lengthBytes, 1, fromHandle));
        finish(link, receive);
        check(to, lengthBytes, i);
      }
      assertEquals(0, link.sender().deregisterMemory(fromHandle));
      assertEquals(0, link.receiver().deregisterMemory(toHandle));
    }
  }

  /** Sends one message and checks its bytes. */
  void exchange(Link link, int lengthBytes, int roomBytes, int seed) {
    long from = memory(lengthBytes);
    long to = memory(roomBytes);
    fill(from, lengthBytes, seed);
    long fromHandle = link.sender().registerMemory(from, Math.max(lengthBytes, 1), 1);
    long toHandle = link.receiver().registerMemory(to, Math.max(roomBytes, 1), 1);
    long receive = receive(link, to, roomBytes, 7, toHandle);
    assertTrue(receive > 0, "irecv returned " + receive);
    long send = send(link, from, lengthBytes, 7, fromHandle);
    await(
        "completion of the receive",
        () -> {
          progress(link);
          return isDone(receive);
        });
    assertEquals(1, count(receive));
    assertEquals(lengthBytes, size(receive, 0), "size reported to the receiver");
    release(receive);
    finish(link, send);
    check(to, lengthBytes, seed);
    assertEquals(0, link.sender().deregisterMemory(fromHandle));
    assertEquals(0, link.receiver().deregisterMemory(toHandle));
  }

  @Override
  public void close() {
    left.close();
    right.close();
    assertEquals(Map.of(), left.openObjects(), "left open on the left");
    assertEquals(Map.of(), right.openObjects(), "left open on the right");
    arena.close();
  }
}
