package io.heddle.transport.device;

import io.heddle.addr.AssignedAddress;
import io.heddle.platform.NanoClock;
import io.heddle.spray.PlaneWeights;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.ProtectionDomain;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Device that NCCL uses: an opened verbs device with its planes, one protection domain and its
 * registered memory. Lives as long as the transport.
 */
public final class NetDevice implements AutoCloseable {
  private final DeviceContext context;
  private final ProtectionDomain pd;
  private final MemoryTable memory;
  private final PlaneAddresses planes;
  private final PlaneWeights weights;
  private final int rail;
  private final Set<DeviceConnection> connections = ConcurrentHashMap.newKeySet();
  private final PlaneLog planeLog;
  private final PeerEvents events;
  private final NanoClock clock;
  private Consumer<RoutedConnection> routes = joined -> {};
  private BiConsumer<InetAddress, InetAddress> moves = (before, now) -> {};

  /**
   * @param planes the device's planes, at least one
   * @param weights weights of these planes
   * @param rail NCCL's number of the rail; −1 where undefined
   * @param rules how registered memory is used
   */
  public NetDevice(
      DeviceContext context,
      PlaneAddresses planes,
      PlaneWeights weights,
      int rail,
      MemoryTable.Rules rules,
      NanoClock clock) {
    this.context = context;
    this.pd = context.allocateProtectionDomain();
    this.memory = new MemoryTable(pd, rules);
    this.planes = planes;
    this.weights = weights;
    this.rail = rail;
    this.clock = clock;
    planeLog = new PlaneLog(clock);
    events = new PeerEvents(clock);
  }

  public DeviceContext context() {
    return context;
  }

  /** Returns the process's clock, used by all its connections. */
  public NanoClock clock() {
    return clock;
  }

  public ProtectionDomain pd() {
    return pd;
  }

  public MemoryTable memory() {
    return memory;
  }

  /** Returns the planes at their present addresses, in order of keys. Any thread. */
  public List<LocalPlane> planes() {
    return planes.current();
  }

  /**
   * Sets the listener for planes whose address changes. It gets the old and the new address. Called
   * before the first connection.
   */
  public void setMoveListener(BiConsumer<InetAddress, InetAddress> listener) {
    moves = listener;
  }

  /** Records that some plane's address is gone, or soon will be. Any thread. */
  void markMissing() {
    planes.markMissing();
  }

  /** Returns whether some plane has no address yet. Any thread. */
  boolean hasMissingPlane() {
    return planes.hasMissingPlane();
  }

  /** Searches new addresses for the planes whose addresses are gone. Control thread. */
  void findPlanes() {
    planes.findSuccessors().forEach(this::moved);
  }

  /**
   * Updates the address of a plane before it is retried, and returns the plane at its present
   * address. Control thread.
   */
  public LocalPlane refreshPlane(LocalPlane plane) {
    PlaneAddresses.Move move = planes.findForRetry(plane.key());
    if (move != null) {
      moved(move);
    }
    return planes.of(plane.key());
  }

  /*
   * Reports a move. Connections at the old address fail their plane, and get the new address when
   * they retry the plane.
   */
  private void moved(PlaneAddresses.Move move) {
    LocalPlane before = move.before();
    LocalPlane now = move.now();
    moves.accept(before.gid().toAddress(), now.gid().toAddress());
    if (move.gone()) {
      addressLost(before.gid(), "its address is gone");
      connections.forEach(connection -> connection.planeMoved(now));
    }
  }

  /** Reports that the host or the device has lost this address. Control thread. */
  void addressLost(Gid address, String cause) {
    for (DeviceConnection connection : connections) {
      connection.addressLost(address, cause);
    }
  }

  /** Returns the planes' present addresses, and older ones that connections still use. */
  Set<Gid> addressesInUse() {
    Set<Gid> all = new HashSet<>();
    planes().forEach(plane -> all.add(plane.gid()));
    connections.forEach(connection -> all.addAll(connection.localGids()));
    return all;
  }

  /** Returns whether one of the planes has this address. */
  public boolean has(AssignedAddress address) {
    Gid gid = Gid.of(address.address());
    return planes().stream().anyMatch(plane -> plane.gid().equals(gid));
  }

  public PlaneWeights weights() {
    return weights;
  }

  public int rail() {
    return rail;
  }

  /**
   * Sets the source of route weights for connections whose planes are paired. Called before the
   * first connection.
   */
  public void follow(Consumer<RoutedConnection> listener) {
    routes = listener;
  }

  /** Applies the route weights for its peer to a connection whose planes are paired. */
  public void follow(DeviceConnection connection) {
    routes.accept(connection);
  }

  /** Returns the open connections. Any thread. */
  public Set<DeviceConnection> connections() {
    return connections;
  }

  public String name() {
    return context.device().name();
  }

  /** Returns the message that this device can't serve the spray policy {@code packet}. */
  public String needsLinks() {
    return "HEDDLE_POLICY=packet needs the soft device at both ends, without"
        + " HEDDLE_SOFT_PEERS=standard, but device "
        + name()
        + " binds a queue pair to one plane: set HEDDLE_PROVIDER=soft on all hosts, or another"
        + " policy";
  }

  /** Returns the log of planes that this device's connections leave. Control thread. */
  public PlaneLog planeLog() {
    return planeLog;
  }

  /** Returns the log of events that concern many of this device's connections. Any thread. */
  public PeerEvents events() {
    return events;
  }

  /**
   * Returns peer and plane of a queue pair, for a log line. If no connection has this queue pair,
   * returns the device's planes. Control thread.
   */
  String describeQueuePair(int queuePairNumber) {
    for (DeviceConnection connection : connections) {
      int carrier = connection.carrierOf(queuePairNumber);
      if (carrier >= 0) {
        return connection.peer() + ", plane " + connection.carrierKeys().get(carrier);
      }
    }
    return "planes " + planes().stream().map(LocalPlane::key).toList();
  }

  /** Adds an open connection. Any thread. */
  public void addConnection(DeviceConnection connection) {
    connections.add(connection);
  }

  /** Removes a closed connection. Any thread. */
  public void removeConnection(DeviceConnection connection) {
    connections.remove(connection);
  }

  /**
   * Fails the connections that use a broken queue pair, or all connections if the device is broken.
   * Control thread.
   *
   * @param queuePairNumber 0 for the whole device
   * @return the connections that fail
   */
  public List<DeviceConnection> failConnections(int queuePairNumber, String reason) {
    List<DeviceConnection> ending =
        connections.stream()
            .filter(each -> queuePairNumber == 0 || each.carrierOf(queuePairNumber) >= 0)
            .toList();
    ending.forEach(connection -> connection.deviceFailed(reason));
    return ending;
  }

  /** Reports that one of this device's planes no longer carries traffic. Control thread. */
  public void planeLost(LocalPlane plane, String cause) {
    for (DeviceConnection connection : connections) {
      connection.planeLost(plane, cause);
    }
  }

  /**
   * Reports a broken queue pair to its connection, for which the plane then fails. Control thread.
   */
  void queuePairFailed(int queuePairNumber, String reason) {
    for (DeviceConnection connection : connections) {
      connection.queuePairLost(queuePairNumber, reason);
    }
  }

  /**
   * Returns the number of connections that are closed here but whose peers may still retransmit for
   * lost acknowledgements. Any thread.
   */
  public long lingering() {
    return connections.stream().filter(each -> each.isLeaving()).count();
  }

  /** Returns whether this queue pair serves a connection that isn't closed. Control thread. */
  boolean isInUse(int queuePairNumber) {
    return connections.stream()
        .anyMatch(each -> !each.isLeaving() && each.carrierOf(queuePairNumber) >= 0);
  }

  /** Closes the remaining connections, then the device. */
  @Override
  public void close() {
    List.copyOf(connections).forEach(DeviceConnection::close);
    events.end();
    context.close();
  }
}
