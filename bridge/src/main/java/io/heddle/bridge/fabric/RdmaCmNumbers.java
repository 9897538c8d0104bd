package io.heddle.bridge.fabric;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LastingThread;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.platform.WakeUp;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Numbers by the kernel's RDMA CM (librdmacm). One thread makes all calls and takes all events, so
 * that nobody waits for the kernel.
 */
public final class RdmaCmNumbers implements NumberService {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");
  private static final int RESOLVE_MS = 2000;
  /* Orders and events end a round. Paths of InfiniBand are due by the clock, or when a port says so. */
  private static final long LONGEST_ROUND_NS = 500_000_000;
  private static final long PATHS_ROUND_NS = 20_000_000;
  private static final int MOST_WAITING = 4096;
  /* IB_SIDR_NO_QP, of a host that didn't answer. */
  private static final int NO_QUEUE_PAIR = 3;
  private static final int MOST_STATUS = 255;
  private static final int MOST_TOLD = 100;

  private static final int WORD_AT = 0;
  private static final int OWN_AT = 8;
  private static final int PEER_AT = 40;
  private static final int POLLFDS_AT = 72;
  private static final int TIMESPEC_AT = 88;
  private static final int PARAMETER_AT = 104;
  private static final int PRIVATE_AT = 128;
  private static final int ROOM_BYTES = 384;
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;

  private final NumberedPort port;
  private final int trafficClass;
  private final String device;
  private final Log log;
  private final Arena arena = Arena.ofShared();
  private final long room = Memory.allocate(arena, ROOM_BYTES, 8);
  private final long channel;
  private final WakeUp ordered = new WakeUp(arena);
  private final Queue<Runnable> orders = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Queue<Heard> heard = new ConcurrentLinkedQueue<>();
  private final LastingThread thread;
  /* Of hosts on InfiniBand; null on Ethernet. */
  private final @Nullable RdmaCmPaths paths;
  /* The thread's own. */
  private final Map<Long, Asked> asked = new HashMap<>();
  private final Map<Service, Long> listeners = new LinkedHashMap<>();
  private final Set<Long> questions = new LinkedHashSet<>();
  /* What was told of hosts, once each. */
  private final Set<String> told = new LinkedHashSet<>();
  private volatile String fault = "";
  private volatile boolean closing;

  private record Asked(int token, Gid source, Gid server, List<Byte> privateData) {}

  private record Service(Gid address, int port) {}

  private RdmaCmNumbers(NumberedPort port, String device, int trafficClass, long channel, Log log) {
    this.port = port;
    this.device = device;
    this.trafficClass = trafficClass;
    this.channel = channel;
    this.log = log;
    watch(room + POLLFDS_AT, Memory.getInt(channel));
    watch(room + POLLFDS_AT + POLLFD_BYTES, ordered.fd());
    SubnetHosts hosts = port.hosts();
    Memory.setLong(room + TIMESPEC_AT, 0);
    Memory.setLong(room + TIMESPEC_AT + 8, hosts == null ? LONGEST_ROUND_NS : PATHS_ROUND_NS);
    paths = hosts == null ? null : new RdmaCmPaths(hosts, channel, device, arena, this::tellOnce);
    thread = new LastingThread("heddle-bridge-numbers", log, this::round);
  }

  private static void watch(long pollfd, int fd) {
    Memory.setInt(pollfd, fd);
    Memory.ALL.set(Memory.NATIVE_SHORT, pollfd + 4, POLLIN);
  }

  /**
   * @param port of the device, which makes ways to hosts
   * @param trafficClass of what is sent to hosts
   * @throws HeddleException where the kernel has no RDMA CM, or the library is missing
   */
  public static RdmaCmNumbers open(NumberedPort port, String device, int trafficClass, Log log) {
    long channel = channelFor(device);
    RdmaCmNumbers numbers = new RdmaCmNumbers(port, device, trafficClass, channel, log);
    numbers.thread.start();
    return numbers;
  }

  /**
   * @throws HeddleException where the kernel has no RDMA CM, or the library is missing
   */
  public static void requirePresent(String device) {
    RdmaCm.DESTROY_EVENT_CHANNEL.status(channelFor(device));
  }

  private static long channelFor(String device) {
    boolean hasLibrary = RdmaCm.libraryIsPresent();
    long channel = hasLibrary ? RdmaCm.CREATE_EVENT_CHANNEL.pointer() : -Errno.ENOENT;
    if (channel > 0) {
      return channel;
    }
    if (!Files.exists(KERNEL)) {
      throw new HeddleException(
          "unicast mode=mapped asks the hosts behind "
              + device
              + " by RDMA CM, and there is no "
              + KERNEL
              + "; load the kernel's module rdma_ucm, or take the unicast line out");
    }
    if (!hasLibrary) {
      throw new HeddleException(
          RdmaCm.LIBRARY
              + " can't be opened, by which unicast mode=mapped asks the hosts behind "
              + device
              + "; install it");
    }
    throw new SystemCallException("rdma_create_event_channel for " + device, (int) -channel);
  }

  @Override
  public String describe() {
    return "RDMA CM";
  }

  /* Of what an id of the kernel's waits for, and of what is asked once: never lost. */
  private void orderSurely(Runnable what) {
    waiting.incrementAndGet();
    orders.add(what);
    ordered.wake();
  }

  /* Lost where too many wait, as a datagram would be: clients ask again. */
  private void order(Runnable what) {
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
    } else {
      orders.add(what);
      ordered.wake();
    }
  }

  private boolean round() {
    ordered.calm();
    Runnable next = orders.poll();
    while (next != null) {
      waiting.decrementAndGet();
      next.run();
      next = orders.poll();
    }
    if (closing) {
      free();
      return false;
    }
    if (paths != null) {
      paths.round(System.nanoTime());
    }
    int ready =
        DatagramCalls.poll(LinuxCalls.errnoCapture(), room + POLLFDS_AT, 2, room + TIMESPEC_AT);
    if (ready > 0
        && Memory.ALL.get(Memory.NATIVE_SHORT, room + POLLFDS_AT + 6) != 0
        && RdmaCm.GET_CM_EVENT.status(channel, room + WORD_AT) >= 0) {
      take(Memory.getLong(room + WORD_AT));
    }
    return true;
  }

  @Override
  public void ask(int token, Gid source, Gid server, int port, List<Byte> privateData) {
    order(() -> askNow(new Asked(token, source, server, privateData), port));
  }

  private void askNow(Asked what, int toPort) {
    long id = create();
    asked.put(id, what);
    long own = socketAddress(room + OWN_AT, what.source(), 0);
    long peer = socketAddress(room + PEER_AT, what.server(), toPort);
    if (RdmaCm.RESOLVE_ADDR.status(id, own, peer, RESOLVE_MS) < 0) {
      end(id, NO_QUEUE_PAIR);
    }
  }

  private long create() {
    RdmaCm.CREATE_ID.call(device, channel, room + WORD_AT, 0, RdmaCm.DATAGRAMS);
    return Memory.getLong(room + WORD_AT);
  }

  /* The question is over without a number. */
  private void end(long id, int status) {
    Asked what = asked.remove(id);
    if (what != null) {
      heard.add(new Answer(what.token(), status, 0, 0, List.of()));
      RdmaCm.DESTROY_ID.status(id);
    }
  }

  private void take(long event) {
    long id = Memory.getLong(event + RdmaCm.EVENT_ID);
    int kind = Memory.getInt(event + RdmaCm.EVENT_KIND);
    int status = Memory.getInt(event + RdmaCm.EVENT_STATUS);
    int number = Memory.getInt(event + RdmaCm.EVENT_NUMBER);
    int key = Memory.getInt(event + RdmaCm.EVENT_KEY);
    List<Byte> privateData = List.of();
    if (kind == RdmaCm.CONNECT_REQUEST || kind == RdmaCm.ESTABLISHED) {
      privateData = privateData(event);
    }
    /* An id is destroyed once its events are given back, and not before. */
    RdmaCm.ACK_CM_EVENT.status(event);
    if (paths != null && paths.take(id, kind, status)) {
      return;
    }
    switch (kind) {
      case RdmaCm.ADDRESS_RESOLVED -> {
        if (RdmaCm.RESOLVE_ROUTE.status(id, RESOLVE_MS) < 0) {
          end(id, NO_QUEUE_PAIR);
        }
      }
      case RdmaCm.ROUTE_RESOLVED -> connect(id);
      case RdmaCm.ESTABLISHED -> established(id, number, key, privateData);
      case RdmaCm.CONNECT_REQUEST -> question(id, privateData);
      case RdmaCm.ADDRESS_ERROR -> fail(id, "its link address isn't found", status);
      case RdmaCm.ROUTE_ERROR -> fail(id, "there is no route", status);
      case RdmaCm.CONNECT_ERROR, RdmaCm.UNREACHABLE, RdmaCm.REJECTED ->
          fail(id, "it hasn't answered, or has no such service", status);
      case RdmaCm.DEVICE_REMOVAL -> fault = device + " was removed";
      default -> {
        /* Of no meaning for datagrams. */
      }
    }
  }

  /* Negative is an errno value, and positive the status of a host's answer. */
  private void fail(long id, String why, int status) {
    Asked what = asked.get(id);
    if (what != null) {
      String word = status < 0 ? Errno.describe(-status) : "status " + status;
      tellOnce(
          "no number from " + what.server() + " for " + what.source() + ": " + why + ", " + word);
    }
    end(id, status > 0 && status <= MOST_STATUS ? status : NO_QUEUE_PAIR);
  }

  private void tellOnce(String line) {
    if (told.size() < MOST_TOLD && told.add(line)) {
      log.info("%s", line);
    }
  }

  private static List<Byte> privateData(long event) {
    long at = Memory.getLong(event + RdmaCm.EVENT_PRIVATE_DATA);
    int bytes = Memory.ALL.get(ValueLayout.JAVA_BYTE, event + RdmaCm.EVENT_PRIVATE_BYTES) & 0xff;
    List<Byte> data = new ArrayList<>();
    for (int i = 0; at != 0 && i < Math.min(bytes, MOST_BYTES); i++) {
      data.add(Memory.ALL.get(ValueLayout.JAVA_BYTE, at + i));
    }
    return List.copyOf(data);
  }

  private void connect(long id) {
    Asked what = asked.get(id);
    if (what != null && paths != null) {
      paths.learn(id, what.server());
    }
    if (what != null && RdmaCm.CONNECT.status(id, parameter(0, what.privateData())) < 0) {
      end(id, NO_QUEUE_PAIR);
    }
  }

  private void established(long id, int number, int key, List<Byte> privateData) {
    Asked what = asked.get(id);
    if (what == null) {
      return;
    }
    if (!isReady(what.source(), what.server())) {
      end(id, NO_QUEUE_PAIR);
      return;
    }
    asked.remove(id);
    heard.add(new Answer(what.token(), 0, number, key, privateData));
    RdmaCm.DESTROY_ID.status(id);
  }

  private boolean isReady(Gid source, Gid destination) {
    try {
      port.wayBetween(source, destination, trafficClass);
      return true;
    } catch (HeddleException refused) {
      /* That host's affair, and perhaps for a moment. */
      tellOnce("no way from " + source + " to " + destination + ": " + refused.getMessage());
      return false;
    }
  }

  private void question(long id, List<Byte> privateData) {
    questions.add(id);
    if (questions.size() > MOST_WAITING) {
      refuseNow(id);
    } else if (paths == null) {
      hear(id, privateData);
    } else {
      paths.find(addressAt(id + RdmaCm.ID_PEER_ADDRESS), () -> hear(id, privateData));
    }
  }

  /* Once the way back is ready. */
  private void hear(long id, List<Byte> privateData) {
    Gid address = addressAt(id + RdmaCm.ID_OWN_ADDRESS);
    Gid client = addressAt(id + RdmaCm.ID_PEER_ADDRESS);
    if (!isReady(address, client)) {
      refuseNow(id);
      return;
    }
    int own = portAt(id + RdmaCm.ID_OWN_ADDRESS);
    int clients = portAt(id + RdmaCm.ID_PEER_ADDRESS);
    heard.add(new Question(id, address, own, client, clients, privateData));
  }

  @Override
  public void prepare(Gid source, Gid destination) {
    order(() -> {
      if (paths == null) {
        isReady(source, destination);
      } else {
        paths.find(destination, () -> isReady(source, destination));
      }
    });
  }

  @Override
  public void serve(List<Gid> addresses, List<Integer> ports) {
    Set<Service> wanted = new LinkedHashSet<>();
    for (Gid address : addresses) {
      ports.forEach(each -> wanted.add(new Service(address, each)));
    }
    orderSurely(() -> serveNow(wanted));
  }

  private void serveNow(Set<Service> wanted) {
    fault = "";
    for (Service each : List.copyOf(listeners.keySet())) {
      if (!wanted.contains(each)) {
        RdmaCm.DESTROY_ID.status(Objects.requireNonNull(listeners.remove(each)));
      }
    }
    for (Service each : wanted) {
      if (!listeners.containsKey(each)) {
        listen(each);
      }
    }
  }

  private void listen(Service service) {
    long id = create();
    long own = socketAddress(room + OWN_AT, service.address(), service.port());
    int refused = RdmaCm.BIND_ADDR.status(id, own);
    if (refused == 0) {
      refused = RdmaCm.LISTEN.status(id, MOST_WAITING);
    }
    if (refused < 0) {
      RdmaCm.DESTROY_ID.status(id);
      fault =
          "nobody can ask "
              + service.address()
              + " for port "
              + service.port()
              + " by RDMA CM: "
              + Errno.describe(-refused)
              + "; look whether another program has the port";
      log.warn("%s", fault);
    } else {
      listeners.put(service, id);
    }
  }

  @Override
  public void accept(long question, int number, List<Byte> privateData) {
    orderSurely(() -> {
      if (questions.remove(question)) {
        RdmaCm.ACCEPT.status(question, parameter(number, privateData));
        RdmaCm.DESTROY_ID.status(question);
      }
    });
  }

  @Override
  public void refuse(long question) {
    orderSurely(() -> refuseNow(question));
  }

  private void refuseNow(long question) {
    if (questions.remove(question)) {
      RdmaCm.REJECT.status(question, 0, 0);
      RdmaCm.DESTROY_ID.status(question);
    }
  }

  @Override
  public @Nullable Heard take() {
    return heard.poll();
  }

  private long parameter(int number, List<Byte> privateData) {
    long at = room + PARAMETER_AT;
    Memory.clear(at, RdmaCm.PARAMETER_BYTES);
    int bytes = Math.min(privateData.size(), MOST_BYTES);
    for (int i = 0; i < bytes; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, room + PRIVATE_AT + i, privateData.get(i));
    }
    Memory.setLong(at, bytes == 0 ? 0 : room + PRIVATE_AT);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, at + RdmaCm.PARAMETER_PRIVATE_BYTES, (byte) bytes);
    Memory.setInt(at + RdmaCm.PARAMETER_NUMBER, number);
    return at;
  }

  /* struct sockaddr_in or sockaddr_in6. */
  private static long socketAddress(long at, Gid address, int port) {
    Memory.clear(at, RdmaSocketAddress.BYTES);
    RdmaSocketAddress.write(at, address, port);
    return at;
  }

  private static Gid addressAt(long at) {
    return RdmaSocketAddress.address(at);
  }

  private static int portAt(long at) {
    return RdmaSocketAddress.port(at);
  }

  @Override
  public String look() {
    return fault;
  }

  @Override
  public void close() {
    closing = true;
    ordered.wake();
    thread.joinWhateverInterrupts();
  }

  private void free() {
    asked.keySet().forEach(RdmaCm.DESTROY_ID::status);
    questions.forEach(RdmaCm.DESTROY_ID::status);
    listeners.values().forEach(RdmaCm.DESTROY_ID::status);
    if (paths != null) {
      paths.close();
    }
    RdmaCm.DESTROY_EVENT_CHANNEL.status(channel);
    arena.close();
  }
}
