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
 * One device as NCCL sees it: an opened verbs device with its planes, one protection domain and its
 * registered memory. Lives as long as the transport.
 */
public final class NetDevice implements AutoCloseable {
  /** Why a device can't serve the policy packet, and what to do; names the device. */
  public static final String NEEDS_LINKS =
      "HEDDLE_POLICY=packet needs the soft device at both ends, without HEDDLE_SOFT_PEERS=standard,"
          + " but device %s binds a queue pair to one plane: set HEDDLE_PROVIDER=soft on all"
          + " hosts, or another policy";

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
   * @param planes at least one
   * @param weights one for each plane
   * @param rail what NCCL is to call the rail; −1 where undefined
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

  /** The process's, for all that its connections measure. */
  public NanoClock clock() {
    return clock;
  }

  public ProtectionDomain pd() {
    return pd;
  }

  public MemoryTable memory() {
    return memory;
  }

  /** Where they are now, in order of keys. Any thread. */
  public List<LocalPlane> planes() {
    return planes.now();
  }

  /** Tells this one of addresses that planes leave for others. Before the first connection. */
  public void onMove(BiConsumer<InetAddress, InetAddress> ear) {
    moves = ear;
  }

  /** The address of a plane is gone, or soon will be. Any thread. */
  void markMissing() {
    planes.markMissing();
  }

  /** Whether some plane is still missed. Any thread. */
  boolean hasMissingPlane() {
    return planes.hasMissingPlane();
  }

  /** Looks where planes are whose addresses are gone. Control thread. */
  void findPlanes() {
    planes.findSuccessors().forEach(this::moved);
  }

  /** Where a plane is that is tried again after it carried nothing. Control thread. */
  public LocalPlane again(LocalPlane plane) {
    PlaneAddresses.Move move = planes.findAgain(plane.key());
    if (move != null) {
      moved(move);
    }
    return planes.of(plane.key());
  }

  /* Who still has it where it was fails with it, and is told where it is when it is tried again. */
  private void moved(PlaneAddresses.Move move) {
    LocalPlane before = move.before();
    LocalPlane now = move.now();
    moves.accept(before.gid().toAddress(), now.gid().toAddress());
    if (move.gone()) {
      addressLost(before.gid(), "its address is gone");
      connections.forEach(connection -> connection.planeMoved(now));
    }
  }

  /** The host, or the device, has this address no more. Control thread. */
  void addressLost(Gid address, String cause) {
    for (DeviceConnection connection : connections) {
      connection.addressLost(address, cause);
    }
  }

  /** Of its planes, and of connections that have them where they were before. */
  Set<Gid> addressesInUse() {
    Set<Gid> all = new HashSet<>();
    planes().forEach(plane -> all.add(plane.gid()));
    connections.forEach(connection -> all.addAll(connection.localGids()));
    return all;
  }

  /** Whether this is its address on one of its planes. */
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
   * From now on routes have weights for connections whose planes are paired. Before the first
   * connection.
   */
  public void follow(Consumer<RoutedConnection> ear) {
    routes = ear;
  }

  /** Gives a connection whose planes are paired the weights that routes have for its peer. */
  public void follow(DeviceConnection connection) {
    routes.accept(connection);
  }

  /** The open connections. Any thread. */
  public Set<DeviceConnection> connections() {
    return connections;
  }

  public String name() {
    return context.device().name();
  }

  /** Who tells of planes that this device's connections leave. Control thread. */
  public PlaneLog planeLog() {
    return planeLog;
  }

  /** Who tells of what happens to many of this device's connections. Any thread. */
  public PeerEvents events() {
    return events;
  }

  /** Its planes, or peer and plane of the queue pair, for a log line. Control thread. */
  String concerned(int queuePairNumber) {
    for (DeviceConnection connection : connections) {
      int carrier = connection.carrierOf(queuePairNumber);
      if (carrier >= 0) {
        return connection.peer() + ", plane " + connection.carrierKeys().get(carrier);
      }
    }
    return "planes " + planes().stream().map(LocalPlane::key).toList();
  }

  /** A connection of this device is open. Any thread. */
  public void opened(DeviceConnection connection) {
    connections.add(connection);
  }

  /** A connection of this device is closed. Any thread. */
  public void closed(DeviceConnection connection) {
    connections.remove(connection);
  }

  /**
   * The device reports that it is broken, or one of its queue pairs. Control thread.
   *
   * @param queuePairNumber 0 for the whole device
   * @return the connections that end by it
   */
  public List<DeviceConnection> failed(int queuePairNumber, String story) {
    List<DeviceConnection> ending =
        connections.stream()
            .filter(each -> queuePairNumber == 0 || each.carrierOf(queuePairNumber) >= 0)
            .toList();
    ending.forEach(connection -> connection.deviceFailed(story));
    return ending;
  }

  /** One of this device's planes carries nothing any more. Control thread. */
  public void planeLost(LocalPlane plane, String cause) {
    for (DeviceConnection connection : connections) {
      connection.planeLost(plane, cause);
    }
  }

  /** One queue pair is broken, and with it its plane for its connection. Control thread. */
  void queuePairFailed(int queuePairNumber, String story) {
    for (DeviceConnection connection : connections) {
      connection.queuePairLost(queuePairNumber, story);
    }
  }

  /**
   * Connections that were closed here while their peers may still ask for acknowledgements. Any
   * thread.
   */
  public long lingering() {
    return connections.stream().filter(each -> each.isLeaving()).count();
  }

  /** Whether this queue pair serves a connection that nobody has closed yet. Control thread. */
  boolean isInUse(int queuePairNumber) {
    return connections.stream()
        .anyMatch(each -> !each.isLeaving() && each.carrierOf(queuePairNumber) >= 0);
  }

  /** Closes what connections are left, then the device. */
  @Override
  public void close() {
    List.copyOf(connections).forEach(DeviceConnection::close);
    events.end();
    context.close();
  }
}
