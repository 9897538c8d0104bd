package io.heddle.transport;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.HostPlanes;
import io.heddle.addr.PlaneDiscovery;
import io.heddle.addr.PlaneRules;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.Options;
import io.heddle.platform.ProcessCalls;
import io.heddle.routes.RouteReader;
import io.heddle.routes.RoutesPath;
import io.heddle.stats.DistinctErrors;
import io.heddle.stats.DrainOrders;
import io.heddle.stats.StatsFile;
import io.heddle.transport.connection.ConnectionTerms;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.connection.ReconnectListeners;
import io.heddle.transport.control.ControlAddresses;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.AddressFollower;
import io.heddle.transport.device.DeviceSearch;
import io.heddle.transport.device.DeviceWatch;
import io.heddle.transport.device.DrainFollower;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.MemoryTable;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.device.Providers;
import io.heddle.transport.device.RouteFollower;
import io.heddle.transport.onesided.OneSidedListener;
import io.heddle.transport.options.InfinibandOptions;
import io.heddle.transport.options.TransportOptions;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.PortAttributes;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The plugin's entry point: devices, planes and connections of one provider. Thread-safe. */
public final class Transport implements AutoCloseable {
  private static final int MAX_RECEIVES = 8;
  private static final long LARGEST_MESSAGE_BYTES = 1L << 30;
  private static final int UNDEFINED = -1;

  /* Time over which a queue pair retries at the default timeout: 8 × 67 ms. */
  private static final long LINGER_NS = 540_000_000;

  private final NanoClock clock;
  private final Options options;
  private final DistinctErrors log;
  private final LeakLedger ledger = new LeakLedger();
  private final String provider;
  private final List<NetDevice> devices;
  private final ControlLoop loop;
  private final ReconnectListeners reconnectListeners;
  private final AddressFollower addresses;
  private final @Nullable RouteFollower routes;
  private final StatsFile stats;
  private final CounterSource published;
  private final Connector connector;
  private volatile @Nullable TransportWarmUp warmUp;

  private Transport(
      Map<String, String> environment,
      Log nextLog,
      Supplier<Providers> providers,
      NanoClock clock,
      OpenedResources opened) {
    this.clock = clock;
    log = new DistinctErrors(nextLog);
    options = Options.parse(environment, TransportOptions.ALL, TransportOptions.remarks());
    options.remarks().forEach(remark -> log.info("%s", remark));
    options.warnings().forEach(warning -> log.warn("%s", warning));
    HostAddresses host = HostAddresses.read();
    RouteFollower follower = routes();
    routes = follower;
    if (follower != null) {
      opened.onFailure(follower::close);
    }
    PlaneRules rules = PlaneRules.parse(options.get(TransportOptions.PLANES));
    AddressFilter filter =
        AddressFilter.parse(
            options.get(InfinibandOptions.ADDRESS_RANGE),
            options.get(InfinibandOptions.ADDRESS_FAMILY));
    HostPlanes planes = new HostPlanes(host, rules, filter, publishedPlanes());
    PlaneDiscovery.Result found = planes.ofAll();
    requireOne(found);
    DeviceSearch search =
        new DeviceSearch(options, environment, ledger, clock, log, providers.get().all());
    devices =
        search.open(
            planes, () -> new HostPlanes(HostAddresses.read(), rules, filter, publishedPlanes()));
    opened.onFailure(() -> devices.forEach(NetDevice::close));
    provider = search.provider();
    String hostName =
        devices.getFirst().planes().getFirst().gid() + " pid " + ProcessCalls.getpid();
    logRejected(found);
    List<InetAddress> controlAddresses =
        ControlAddresses.choose(
            host,
            nullIfBlank(options.get(TransportOptions.SOCKET_INTERFACES)),
            nullIfBlank(options.get(TransportOptions.SOCKET_FAMILY)));
    String folder = options.get(TransportOptions.STATS_DIRECTORY);
    stats = new StatsFile(folder.isBlank() ? null : Path.of(folder), log);
    opened.onFailure(this::closeStats);
    log.publishTo(stats);
    published = CounterSource.of(stats);
    loop = new ControlLoop(clock, log);
    opened.onFailure(loop::close);
    reconnectListeners = new ReconnectListeners(loop, listenerAddresses(controlAddresses), log);
    connector = new Connector(options, hostName, controlAddresses, loop, reconnectListeners, log);
    devices.forEach(device -> device.setMoveListener(this::planeMoved));
    boolean eventsBreak = options.get(InfinibandOptions.ASYNC_EVENTS) == 1;
    loop.onPersistentFailure(this::failAllConnections);
    new DeviceWatch(devices, eventsBreak, stats, loop, log).begin();
    DrainOrders orders = stats.orders();
    if (orders != null) {
      new DrainFollower(orders, devices, log).begin(loop);
    }
    addresses = new AddressFollower(devices, loop, log);
    opened.onFailure(addresses::close);
    if (follower != null) {
      follower.start(devices);
    }
  }

  private void planeMoved(InetAddress before, InetAddress now) {
    reconnectListeners.move(before, now);
    connector.move(before, now);
  }

  /*
   * Returns the addresses to listen on for reconnects: those of control channels, and those of the
   * planes, so that a peer can reconnect over any plane.
   */
  private List<InetAddress> listenerAddresses(List<InetAddress> controlAddresses) {
    List<InetAddress> addresses = new ArrayList<>(controlAddresses);
    for (NetDevice device : devices) {
      device.planes().forEach(plane -> addresses.add(plane.gid().toAddress()));
    }
    return addresses;
  }

  private @Nullable RouteFollower routes() {
    Path file =
        RoutesPath.followed(
            options.get(TransportOptions.ROUTES), options.get(TransportOptions.WEIGHTS));
    if (file == null) {
      return null;
    }
    return new RouteFollower(
        file, options.get(TransportOptions.ROUTES_HOLD) * 1_000_000L, clock, log);
  }

  /* Returns the route daemon's plane key of each of this host's addresses. */
  private Map<InetAddress, String> publishedPlanes() {
    RouteFollower follower = routes;
    return follower == null ? Map.of() : RouteReader.keys(follower.planes());
  }

  /**
   * Opens the devices of the first provider that has some, and finds the planes.
   *
   * @param environment option values by name
   * @throws HeddleException when there is no device or no plane, or an option is malformed
   */
  public static Transport open(Map<String, String> environment, Log log) {
    return open(environment, log, Providers::ofThisBuild);
  }

  /**
   * Opens a transport like {@link #open(Map, Log)}, with these providers to choose from. The
   * supplier is called once the planes are known.
   */
  public static Transport open(
      Map<String, String> environment, Log log, Supplier<Providers> providers) {
    OpenedResources opened = new OpenedResources();
    try {
      return new Transport(environment, log, providers, NanoClock.SYSTEM, opened);
    } catch (RuntimeException | Error failure) {
      opened.undo(failure);
      throw failure;
    }
  }

  private static @Nullable String nullIfBlank(String text) {
    return text.isBlank() ? null : text;
  }

  /* Logs addresses that aren't planes of any device; DeviceSearch logs the planes. */
  private void logRejected(PlaneDiscovery.Result found) {
    found.rejected().stream()
        .filter(rejected -> devices.stream().noneMatch(device -> device.has(rejected.address())))
        .forEach(rejected -> log.info("not a plane: %s", rejected));
  }

  private void requireOne(PlaneDiscovery.Result found) {
    found.remarks().forEach(remark -> log.warn("%s", remark));
    if (found.planes().isEmpty()) {
      throw new HeddleException(
          "no address of this host can be a plane ("
              + (found.rejected().isEmpty()
                  ? "it has none"
                  : String.join("; ", found.rejected().stream().map(Object::toString).toList()))
              + "); give an interface a global IPv6 address, or an IPv4 one on a host without, or"
              + " name addresses in HEDDLE_PLANES");
    }
  }

  /* Fails all connections: without the control thread, no connection can end in any other way. */
  private void failAllConnections() {
    connector.controlLost();
    for (NetDevice device : devices) {
      device.failConnections(0, Connector.CONTROL_LOST);
    }
  }

  List<NetDevice> devices() {
    return devices;
  }

  Connector connector() {
    return connector;
  }

  /** Returns the control loop. */
  ControlLoop loop() {
    return loop;
  }

  /** Returns the addresses at which peers reconnect a lost control channel. */
  List<InetSocketAddress> reconnectAddresses() {
    return reconnectListeners.addresses();
  }

  public int deviceCount() {
    return devices.size();
  }

  /** Describes the provider, its devices, planes and weights, for the log. */
  public String describe() {
    StringBuilder text = new StringBuilder("provider " + provider);
    for (NetDevice device : devices) {
      text.append(
          "; device %s with planes %s, weights %s"
              .formatted(
                  device.name(),
                  device.planes().stream().map(LocalPlane::key).toList(),
                  routes == null
                      ? "%s (%s)".formatted(device.weights(), device.weights().source())
                      : routes.describe()));
    }
    if (ConnectionTerms.queuePairsPerPlane(options) > 1) {
      text.append("; ")
          .append(ConnectionTerms.queuePairsPerPlane(options))
          .append(" queue pairs a plane");
    }
    return text + "; policy " + options.get(TransportOptions.POLICY);
  }

  /** Returns the file with this process's counters; null where they are in memory only. */
  public @Nullable Path statsFile() {
    return stats.path();
  }

  /**
   * Returns the properties of a device.
   *
   * @throws HeddleException when there is no such device
   */
  public NetProperties properties(int index) {
    NetDevice device = device(index);
    DeviceAttributes attributes = device.context().attributes();
    PortAttributes port = device.context().port();
    return new NetProperties(
        device.name(),
        attributes.pciPath(),
        attributes.guid(),
        MemoryTable.HOST_MEMORY | (attributes.supportsDmaBuf() ? MemoryTable.DMA_BUF : 0),
        true,
        false,
        port.speedBitsPerSecond() / 1_000_000,
        port.number() + portsBefore(device, attributes),
        0,
        mostConnections(device, attributes),
        MAX_RECEIVES,
        LARGEST_MESSAGE_BYTES,
        LARGEST_MESSAGE_BYTES,
        1,
        device.rail(),
        UNDEFINED);
  }

  /*
   * Returns the number of earlier devices that are other functions of the same adapter. NCCL takes
   * devices with the same GUID and port for one port, and divides its bandwidth among them.
   */
  private int portsBefore(NetDevice device, DeviceAttributes attributes) {
    int before = 0;
    for (NetDevice other : devices.subList(0, devices.indexOf(device))) {
      DeviceAttributes its = other.context().attributes();
      if (its.guid() == attributes.guid() && !its.pciPath().equals(attributes.pciPath())) {
        before++;
      }
    }
    return before;
  }

  /*
   * Returns how many connections the device allows. Each end of a connection needs one completion
   * queue and its queue pairs.
   */
  private int mostConnections(NetDevice device, DeviceAttributes attributes) {
    int queuePairs = device.planes().size() * ConnectionTerms.queuePairsPerPlane(options);
    return Math.max(
        1, Math.min(attributes.maxQueuePairs() / queuePairs, attributes.maxCompletionQueues()));
  }

  private NetDevice device(int index) {
    if (index < 0 || index >= devices.size()) {
      throw new HeddleException(
          "there is no device %s; there are %s".formatted(index, devices.size()));
    }
    return devices.get(index);
  }

  /**
   * Starts listening and writes the 128-byte handle that NCCL carries to the connecting side. Never
   * blocks.
   */
  public ListenComm listen(int index, long handleAddress) {
    return connector.listen(device(index), handleAddress, published, log);
  }

  /**
   * Connects step by step. Between two calls, the handle's buffer has the number under which this
   * process keeps the pending connection.
   *
   * @param trafficClass traffic class of the communicator; -1 where undefined
   * @return null while the connection is pending; the caller calls again
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable SendComm connect(int index, int trafficClass, long handleAddress) {
    return connector.connect(
        device(index), trafficClass, handleAddress, published, log, !isWarmingUp());
  }

  /**
   * Accepts the next connection.
   *
   * @return null while none is ready; the caller calls again
   * @throws HeddleException when a peer that knew the token could not be connected
   */
  public @Nullable RecvComm accept(ListenComm listener) {
    return connector.accept(listener, !isWarmingUp());
  }

  /** Starts listening like {@link #listen}, for a rank of a one-sided group. */
  public OneSidedListener listenOneSided(int index, long handleAddress) {
    return new OneSidedListener(device(index), connector, handleAddress, published, log);
  }

  private void awaitLingering() {
    long start = clock.nanoTime();
    while (devices.stream().anyMatch(device -> device.lingering() > 0)
        && clock.nanoTime() - start < LINGER_NS) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void closeStats() {
    log.stopPublishing();
    stats.close();
  }

  /** Returns the number of open objects by type; empty when everything was closed. */
  public Map<String, Integer> openObjects() {
    return ledger.open();
  }

  /**
   * Sends messages from this process to itself until the data path is compiled or the time is over.
   * A failure is ignored: the job then starts cold and is slower for a second.
   */
  public void warmUp(long budgetNs) {
    new TransportWarmUp(connector, devices.getFirst(), clock, log, budgetNs).run();
  }

  /**
   * Warms up on a thread of its own. Until the warm-up is done {@link #connect} and {@link #accept}
   * return null, so that the caller's first messages run compiled code.
   */
  public void startWarmUp(long budgetNs) {
    TransportWarmUp aside =
        new TransportWarmUp(connector, devices.getFirst(), clock, log, budgetNs);
    warmUp = aside;
    aside.start();
  }

  private boolean isWarmingUp() {
    TransportWarmUp aside = warmUp;
    return aside != null && aside.isRunning();
  }

  /**
   * Closes the devices. Communicators must be closed before. Waits up to half a second for
   * connections whose peer hasn't closed yet, so that the peer can retransmit after a lost
   * acknowledgement.
   */
  @Override
  public void close() {
    TransportWarmUp aside = warmUp;
    if (aside != null) {
      aside.stop();
    }
    awaitLingering();
    RouteFollower follower = routes;
    if (follower != null) {
      follower.close();
    }
    addresses.close();
    loop.close();
    devices.forEach(NetDevice::close);
    closeStats();
    if (!ledger.isEmpty()) {
      log.warn("left open at the end: %s", ledger.open());
    }
  }
}
