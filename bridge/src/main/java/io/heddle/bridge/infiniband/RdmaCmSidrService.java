package io.heddle.bridge.infiniband;

import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.WakeUp;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * SIDR service by the kernel's RDMA CM (librdmacm). One thread makes all calls and takes all
 * events, so that no other thread waits for the kernel.
 */
public final class RdmaCmSidrService implements SidrService {
  private static final Path KERNEL = Path.of("/dev/infiniband/rdma_cm");
  private static final int RESOLVE_MS = 2000;
  /* Maximum time that a round waits for tasks and events on Ethernet. */
  private static final long LONGEST_ROUND_NS = 500_000_000;
  /*
   * Maximum time that a round waits for tasks and events on InfiniBand. It is shorter than on
   * Ethernet, since requests for paths become due at any time.
   */
  private static final long PATHS_ROUND_NS = 20_000_000;
  private static final int MAX_WAITING = 4096;
  /* IB_SIDR_NO_QP, for a host that didn't answer. */
  private static final int NO_QUEUE_PAIR = 3;
  private static final int MOST_STATUS = 255;
  private static final int MAX_LOGGED = 100;

  /* Offsets in the buffer: own and peer socket address, a struct rdma_conn_param, private data. */
  private static final int PEER_AT = 32;
  private static final int PARAMETER_AT = 64;
  private static final int PRIVATE_AT = 88;
  private static final int BUFFER_BYTES = 344;

  private final FabricPort port;
  private final int trafficClass;
  private final String device;
  private final Log log;
  private final Arena arena;
  private final long buffer;
  private final RdmaCmChannel channel;
  private final long roundNs;
  private final WakeUp wakeUp;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Queue<Message> messages = new ConcurrentLinkedQueue<>();
  private final ResilientThread thread;
  /* Paths to hosts on InfiniBand; null on Ethernet. */
  private final @Nullable RdmaCmPaths paths;
  /* This field and the next two are used by the service's thread only. */
  private final Map<Long, SentRequest> sent = new HashMap<>();
  private final Map<Service, Long> listeners = new LinkedHashMap<>();
  private final Set<Long> received = new LinkedHashSet<>();
  /* Messages already logged about hosts. */
  private final Set<String> logged = new LinkedHashSet<>();
  private volatile String fault = "";
  private volatile boolean closing;

  private record SentRequest(int token, Gid source, Gid server, List<Byte> privateData) {}

  private record Service(Gid address, int port) {}

  private RdmaCmSidrService(
      FabricPort port,
      @Nullable SubnetHosts hosts,
      String device,
      int trafficClass,
      Log log,
      Arena arena) {
    this.port = port;
    this.arena = arena;
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
    wakeUp = new WakeUp(arena);
    this.device = device;
    this.trafficClass = trafficClass;
    this.log = log;
    channel = channelFor(device, arena, wakeUp.fd());
    roundNs = hosts == null ? LONGEST_ROUND_NS : PATHS_ROUND_NS;
    paths = hosts == null ? null : new RdmaCmPaths(hosts, channel, device, arena, this::logOnce);
    thread = new ResilientThread("heddle-bridge-numbers", log, this::round);
  }

  /**
   * Opens the service of a device, and starts its thread.
   *
   * @param port port of the device, which creates paths to hosts
   * @param hosts map from hosts to ports on InfiniBand; null on Ethernet
   * @param trafficClass traffic class of packets to hosts
   * @throws HeddleException if the kernel has no RDMA CM, or the library is missing
   */
  public static RdmaCmSidrService open(
      FabricPort port, @Nullable SubnetHosts hosts, String device, int trafficClass, Log log) {
    Arena arena = Arena.ofShared();
    try {
      RdmaCmSidrService numbers =
          new RdmaCmSidrService(port, hosts, device, trafficClass, log, arena);
      numbers.thread.start();
      return numbers;
    } catch (RuntimeException refused) {
      arena.close();
      throw refused;
    }
  }

  /**
   * Checks that RDMA CM is available.
   *
   * @throws HeddleException if the kernel has no RDMA CM, or the library is missing
   */
  public static void requirePresent(String device) {
    try (Arena arena = Arena.ofConfined()) {
      channelFor(device, arena, RdmaCmChannel.NO_FD).close();
    }
  }

  private static RdmaCmChannel channelFor(String device, Arena arena, int wakeFd) {
    String purpose = "mode = mapped resolves the hosts behind " + device;
    try {
      return new RdmaCmChannel(device, purpose, arena, wakeFd);
    } catch (HeddleException refused) {
      if (Files.exists(KERNEL)) {
        throw refused;
      }
      throw new HeddleException(
          purpose
              + " by RDMA CM, and there is no "
              + KERNEL
              + "; load the kernel's module rdma_ucm, or remove [unicast]",
          refused);
    }
  }

  @Override
  public String describe() {
    return "RDMA CM";
  }

  /*
   * Enqueues a task that must not be lost: an RDMA CM id waits for the task, or the caller doesn't
   * repeat it.
   */
  private void enqueue(Runnable task) {
    waiting.incrementAndGet();
    tasks.add(task);
    wakeUp.wake();
  }

  /*
   * Enqueues a task, or drops it like a datagram if too many wait: clients repeat their
   * requests.
   */
  private void enqueueOrDrop(Runnable task) {
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
    } else {
      tasks.add(task);
      wakeUp.wake();
    }
  }

  private boolean round() {
    wakeUp.reset();
    Runnable next = tasks.poll();
    while (next != null) {
      waiting.decrementAndGet();
      next.run();
      next = tasks.poll();
    }
    if (closing) {
      free();
      return false;
    }
    if (paths != null) {
      paths.round(System.nanoTime());
    }
    RdmaCmEvent event = channel.next(roundNs);
    if (event != null) {
      take(event);
    }
    return true;
  }

  @Override
  public void request(int token, Gid source, Gid server, int port, List<Byte> privateData) {
    enqueueOrDrop(() -> sendNow(new SentRequest(token, source, server, privateData), port));
  }

  private void sendNow(SentRequest pending, int toPort) {
    long id = channel.createId();
    sent.put(id, pending);
    long own = RdmaSocketAddress.write(buffer, pending.source(), 0);
    long peer = RdmaSocketAddress.write(buffer + PEER_AT, pending.server(), toPort);
    if (RdmaCm.RESOLVE_ADDR.status(id, own, peer, RESOLVE_MS) < 0) {
      end(id, NO_QUEUE_PAIR);
    }
  }

  /* Ends a request that got no number of a queue pair. */
  private void end(long id, int status) {
    SentRequest pending = sent.remove(id);
    if (pending != null) {
      messages.add(new Answer(pending.token(), status, 0, 0, List.of()));
      RdmaCm.DESTROY_ID.status(id);
    }
  }

  private void take(RdmaCmEvent event) {
    if (paths != null && paths.take(event)) {
      return;
    }
    long id = event.id();
    int status = event.status();
    switch (event.kind()) {
      case RdmaCm.ADDRESS_RESOLVED -> {
        if (RdmaCm.RESOLVE_ROUTE.status(id, RESOLVE_MS) < 0) {
          end(id, NO_QUEUE_PAIR);
        }
      }
      case RdmaCm.ROUTE_RESOLVED -> connect(id);
      case RdmaCm.ESTABLISHED -> established(event);
      case RdmaCm.CONNECT_REQUEST -> request(id, event.privateData());
      case RdmaCm.ADDRESS_ERROR -> fail(id, "its link address isn't found", status);
      case RdmaCm.ROUTE_ERROR -> fail(id, "there is no route", status);
      case RdmaCm.CONNECT_ERROR, RdmaCm.UNREACHABLE, RdmaCm.REJECTED ->
          fail(id, "it hasn't answered, or has no such service", status);
      case RdmaCm.DEVICE_REMOVAL -> fault = device + " was removed";
      default -> {
        /* Datagram services cause no other events that matter. */
      }
    }
  }

  /* A negative status is an errno value; a positive one comes from the host's answer. */
  private void fail(long id, String why, int status) {
    SentRequest pending = sent.get(id);
    if (pending != null) {
      String word = status < 0 ? Errno.describe(-status) : "status " + status;
      logOnce(
          "no number from "
              + pending.server()
              + " for "
              + pending.source()
              + ": "
              + why
              + ", "
              + word);
    }
    end(id, status > 0 && status <= MOST_STATUS ? status : NO_QUEUE_PAIR);
  }

  private void logOnce(String line) {
    if (logged.size() < MAX_LOGGED && logged.add(line)) {
      log.info("%s", line);
    }
  }

  private void connect(long id) {
    SentRequest pending = sent.get(id);
    if (pending != null && paths != null) {
      paths.learn(id, pending.server());
    }
    if (pending != null && RdmaCm.CONNECT.status(id, parameter(0, pending.privateData())) < 0) {
      end(id, NO_QUEUE_PAIR);
    }
  }

  private void established(RdmaCmEvent event) {
    long id = event.id();
    SentRequest pending = sent.get(id);
    if (pending == null) {
      return;
    }
    if (!isReady(pending.source(), pending.server())) {
      end(id, NO_QUEUE_PAIR);
      return;
    }
    sent.remove(id);
    messages.add(new Answer(pending.token(), 0, event.number(), event.key(), event.privateData()));
    RdmaCm.DESTROY_ID.status(id);
  }

  private boolean isReady(Gid source, Gid destination) {
    try {
      port.sendPathBetween(source, destination, trafficClass);
      return true;
    } catch (HeddleException refused) {
      /* The fault concerns only this host, and may be temporary. So it is only logged. */
      logOnce("no path from " + source + " to " + destination + ": " + refused.getMessage());
      return false;
    }
  }

  private void request(long id, List<Byte> privateData) {
    received.add(id);
    if (received.size() > MAX_WAITING) {
      rejectNow(id);
    } else if (paths == null) {
      deliver(id, privateData);
    } else {
      paths.find(
          RdmaSocketAddress.address(id + RdmaCm.ID_PEER_ADDRESS), () -> deliver(id, privateData));
    }
  }

  /* Delivers a request from a host, or rejects it if there is no path back to the host. */
  private void deliver(long id, List<Byte> privateData) {
    Gid address = RdmaSocketAddress.address(id + RdmaCm.ID_OWN_ADDRESS);
    Gid client = RdmaSocketAddress.address(id + RdmaCm.ID_PEER_ADDRESS);
    if (!isReady(address, client)) {
      rejectNow(id);
      return;
    }
    int own = RdmaSocketAddress.port(id + RdmaCm.ID_OWN_ADDRESS);
    int clients = RdmaSocketAddress.port(id + RdmaCm.ID_PEER_ADDRESS);
    messages.add(new IncomingSidrRequest(id, address, own, client, clients, privateData));
  }

  @Override
  public void prepare(Gid source, Gid destination) {
    enqueueOrDrop(() -> {
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
    enqueue(() -> serveNow(wanted));
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
    long id = channel.createId();
    long own = RdmaSocketAddress.write(buffer, service.address(), service.port());
    int refused = RdmaCm.BIND_ADDR.status(id, own);
    if (refused == 0) {
      refused = RdmaCm.LISTEN.status(id, MAX_WAITING);
    }
    if (refused < 0) {
      RdmaCm.DESTROY_ID.status(id);
      fault =
          "no host can request "
              + service.address()
              + " for port "
              + service.port()
              + " by RDMA CM: "
              + Errno.describe(-refused)
              + "; check whether another program has the port";
      log.warn("%s", fault);
    } else {
      listeners.put(service, id);
    }
  }

  @Override
  public void accept(long request, int number, List<Byte> privateData) {
    enqueue(() -> {
      if (received.remove(request)) {
        RdmaCm.ACCEPT.status(request, parameter(number, privateData));
        RdmaCm.DESTROY_ID.status(request);
      }
    });
  }

  @Override
  public void refuse(long request) {
    enqueue(() -> rejectNow(request));
  }

  private void rejectNow(long request) {
    if (received.remove(request)) {
      RdmaCm.REJECT.status(request, 0, 0);
      RdmaCm.DESTROY_ID.status(request);
    }
  }

  @Override
  public @Nullable Message take() {
    return messages.poll();
  }

  private long parameter(int number, List<Byte> privateData) {
    long at = buffer + PARAMETER_AT;
    Memory.clear(at, RdmaCm.PARAMETER_BYTES);
    int bytes = Math.min(privateData.size(), MOST_BYTES);
    PrivateBytes.write(buffer + PRIVATE_AT, privateData, bytes);
    Memory.setLong(at, bytes == 0 ? 0 : buffer + PRIVATE_AT);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, at + RdmaCm.PARAMETER_PRIVATE_BYTES, (byte) bytes);
    Memory.setInt(at + RdmaCm.PARAMETER_NUMBER, number);
    return at;
  }

  @Override
  public String check() {
    return fault;
  }

  @Override
  public void close() {
    closing = true;
    wakeUp.wake();
    thread.joinUninterruptibly();
  }

  private void free() {
    sent.keySet().forEach(RdmaCm.DESTROY_ID::status);
    received.forEach(RdmaCm.DESTROY_ID::status);
    listeners.values().forEach(RdmaCm.DESTROY_ID::status);
    if (paths != null) {
      paths.close();
    }
    channel.close();
    arena.close();
  }
}
