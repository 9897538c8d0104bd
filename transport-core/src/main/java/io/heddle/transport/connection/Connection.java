package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.data.Carrier;
import io.heddle.transport.data.CarrierPairs;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.ConnectionMemory;
import io.heddle.transport.data.ConnectionParts;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.data.PlaneEnds;
import io.heddle.transport.device.DeviceConnection;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.device.PeerEvents;
import io.heddle.transport.device.PlaneLog;
import io.heddle.transport.failover.Failover;
import io.heddle.transport.failover.FailoverConnection;
import io.heddle.verbs.Gid;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, of a sender or a receiver: the native memory, one completion queue, and
 * the queue pairs on the planes that both ends have. Made on the control thread during the
 * handshake, then owned by its communicator.
 */
public final class Connection implements DeviceConnection, FailoverConnection {
  private final NetDevice device;
  private final Arena arena = Arena.ofShared();
  private final ConnectionMemory memory;
  private final int inlineBytes;

  /* Planes at both ends; also read by the thread heddle-routes. */
  private volatile PlaneEnds planes = PlaneEnds.NONE;
  /* Names of the paired planes, the same at both ends, in the order of {@link #planes}. */
  private List<String> pairNames = List.of();
  /* Carriers of the queue pairs: one for each plane, or a single one that spans all planes. */
  private List<Carrier> carriers = List.of();
  private @Nullable CarrierPairs pairs;
  /* Depths of the queues of each queue pair; 0 until the planes are paired. */
  private PlaneQueuePair.QueueDepths depths = new PlaneQueuePair.QueueDepths(0, 0, 0);

  /* Weights of the planes, once these are paired. */
  private ConnectionWeights planeWeights = new ConnectionWeights(PlaneWeights.equal(1));
  /* Weights of the carriers; the same object as planeWeights where each plane is a carrier. */
  private ConnectionWeights weights = planeWeights;
  private String peer = "an unnamed peer";
  private ConnectionParts.PeersRing peersRing = new ConnectionParts.PeersRing(0, 0);
  private int peerReceiveDepth;

  private final ConnectionHealth health;
  private @Nullable Failover failover;
  private boolean closed;

  /**
   * @param inlineBytes as in {@link PlaneQueuePair.QueueDepths}
   */
  Connection(NetDevice device, int inlineBytes) {
    this.device = device;
    this.inlineBytes = inlineBytes;
    health = new ConnectionHealth(device.clock());
    try {
      memory = new ConnectionMemory(device.pd());
    } catch (RuntimeException failure) {
      arena.close();
      throw failure;
    }
    device.addConnection(this);
  }

  /**
   * Pairs the planes of both ends by {@code PlaneMarks}, and makes queue pairs on each plane that
   * both have.
   *
   * @param queuePairs number of queue pairs that this end requests on each plane
   * @param spansAllPlanes whether each queue pair spans all planes, as the spray policy {@code
   *     packet} requires
   * @return the paired planes, and those without a match
   * @throws HeddleException when no plane is common, the peer has two planes on one address, or the
   *     device has no room for so many queue pairs
   */
  PlanePairing pair(ControlMessage.PlaneList remote, int queuePairs, boolean spansAllPlanes) {
    peer = remote.host();
    PlanePairing.requireDistinctAddresses(peer, remote.planes());
    List<LocalPlane> own = device.planes();
    PlanePairing pairing = PlanePairing.of(own, remote);
    if (pairing.pairs().isEmpty()) {
      throw new HeddleException(pairing.describeMismatch(peer));
    }
    PlaneEnds paired =
        new PlaneEnds(
            pairing.pairs().stream().map(PlanePairing.Pair::mine).toList(),
            pairing.pairs().stream().map(PlanePairing.Pair::theirs).toList());
    pairNames = pairing.pairs().stream().map(PlanePairing.Pair::name).toList();
    /* With a single plane, the carrier is an ordinary plane. */
    boolean joined = spansAllPlanes && paired.count() > 1;
    int maxLinks = device.context().maxLinks();
    if (joined && paired.count() > maxLinks) {
      throw new HeddleException(
          ("HEDDLE_POLICY=packet takes %s planes at most on %s, and %s are common with %s: name"
                  + " fewer with HEDDLE_PLANES, or set another policy")
              .formatted(maxLinks, device.name(), paired.count(), peer));
    }
    carriers = joined ? Carrier.ofAll(pairNames) : Carrier.ofEach(pairNames);
    planeWeights =
        new ConnectionWeights(
            device
                .weights()
                .subset(paired.localPlanes().stream().mapToInt(own::indexOf).toArray()));
    weights = planeWeights;
    if (joined) {
      weights = new ConnectionWeights(PlaneWeights.equal(1, "all planes together"));
    }
    int perCarrier =
        Math.min(
            Math.min(queuePairs, remote.queuePairsPerPlane()),
            ControlCodec.MAX_QUEUE_PAIRS / carriers.size());
    depths =
        QueueSizing.of(
            device.name(),
            device.context().attributes(),
            carriers.size() * perCarrier,
            inlineBytes);
    CarrierPairs made =
        new CarrierPairs(device, paired, carriers, perCarrier, depths, planeWeights);
    planes = paired;
    pairs = made;
    if (joined) {
      planeWeights.onChange(made::setLinkWeights);
    }
    device.follow(this);
    made.make();
    return pairing;
  }

  @Override
  public CarrierPairs pairs() {
    CarrierPairs made = pairs;
    if (made == null) {
      throw new IllegalStateException("the planes aren't paired yet");
    }
    return made;
  }

  /** Returns this end's endpoints for the peer. */
  ControlMessage.Endpoints endpoints() {
    return new ControlMessage.Endpoints(
        memory.ringAddress(), memory.ringRemoteKey(), depths.receives(), pairs().endpoints());
  }

  /**
   * Connects every queue pair, as {@link CarrierPairs#connect} does.
   *
   * @throws VerbsException where a device refuses
   * @throws HeddleException when the peer's endpoints are for other planes than the paired ones
   */
  void connect(ControlMessage.Endpoints remote, PlaneQueuePair.LinkSettings asked) {
    if (!pairs().hasSameCarriers(remote.endpoints())) {
      throw new HeddleException(
          peer + " sent queue pairs for other planes than those that were agreed on");
    }
    pairs().connect(remote.endpoints(), asked);
    peersRing = new ConnectionParts.PeersRing(remote.ringAddress(), remote.ringKey());
    peerReceiveDepth = remote.receiveDepth();
  }

  /** Sets the failover of this connection. Called before the communicator is driven. */
  void setFailover(Failover failover) {
    this.failover = failover;
  }

  /* Runs a task on the control thread; an exception ends this connection only. */
  private void guarded(Runnable task) {
    Failover begun = failover;
    if (begun == null) {
      task.run();
    } else {
      begun.guarded(task);
    }
  }

  /** Returns the failover; null before the communicator exists. */
  public @Nullable Failover failover() {
    return failover;
  }

  public NetDevice device() {
    return device;
  }

  public ConnectionMemory memory() {
    return memory;
  }

  /**
   * Returns the parts of this connection that its communicator uses. Called once the queue pairs
   * are connected.
   */
  public ConnectionParts parts() {
    return new ConnectionParts(
        device,
        arena,
        memory,
        peersRing,
        pairs(),
        weights,
        health,
        maxChunksPerPlane(),
        peer,
        planeKeys(),
        this::detachCounters);
  }

  /*
   * Returns the limit on chunks in flight on a plane: half of the receives that the peer keeps
   * posted, bounded by our queue.
   */
  private int maxChunksPerPlane() {
    return Math.max(1, Math.min(peerReceiveDepth / 2, depths.sends() - 1));
  }

  /** Returns the weights by which carriers are chosen. */
  PlaneWeights weights() {
    return weights.current();
  }

  @Override
  public ConnectionWeights carrierWeights() {
    return weights;
  }

  @Override
  public ConnectionWeights planeWeights() {
    return planeWeights;
  }

  @Override
  public PlaneWeights routedWeights() {
    return planeWeights.routed();
  }

  @Override
  public void setRouted(PlaneWeights next) {
    planeWeights.setRouted(next);
  }

  @Override
  public PlaneLog planeLog() {
    return device.planeLog();
  }

  @Override
  public PeerEvents events() {
    return device.events();
  }

  /** Returns whether each queue pair spans all planes. */
  boolean spansAllPlanes() {
    return weights != planeWeights;
  }

  @Override
  public boolean pollHealth() {
    guarded(this::countResent);
    Failover begun = failover;
    if (begun == null) {
      return false;
    }
    guarded(begun::checkForSilence);
    return begun.isPeerSilent();
  }

  /* Adds the devices' counts of packets, such as those resent, to the counters of the planes. */
  private void countResent() {
    CarrierPairs made = pairs;
    if (made != null) {
      made.countResent();
    }
  }

  /*
   * Detaches the published counters, which may soon be another connection's. Returns unpublished
   * counters for later events.
   */
  private PlaneCounters[] detachCounters() {
    if (spansAllPlanes()) {
      countResent();
    }
    planeWeights.forgetCounters();
    PlaneCounters[] spare = new PlaneCounters[planes.count()];
    for (int i = 0; i < spare.length; i++) {
      spare[i] = PlaneCounters.unpublished(arena);
    }
    return spare;
  }

  @Override
  public List<Gid> remoteGids() {
    return planes.remoteGids();
  }

  @Override
  public List<Gid> localGids() {
    return planes.localGids();
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public List<String> pairNames() {
    return pairNames;
  }

  @Override
  public List<String> carrierNames() {
    return carriers.stream().map(Carrier::name).toList();
  }

  @Override
  public List<String> carrierKeys() {
    return pairs().keys();
  }

  @Override
  public List<String> planeKeys() {
    return planes.localPlanes().stream().map(LocalPlane::key).toList();
  }

  @Override
  public ConnectionHealth health() {
    return health;
  }

  @Override
  public int carrierOf(int queuePairNumber) {
    CarrierPairs made = pairs;
    return made == null ? -1 : made.carrierOf(queuePairNumber);
  }

  /*
   * Returns the index of the {@link Carrier} that consists of this plane and fails with it. Returns
   * −1 if the connection doesn't use the plane, or if its only carrier spans all planes.
   */
  private int carrierOf(LocalPlane plane) {
    return spansAllPlanes() ? -1 : planes.indexOf(plane);
  }

  /**
   * Path of one plane between the addresses of both ends.
   *
   * @param plane this end's key of the plane
   */
  record PlaneRoute(String plane, InetAddress here, InetAddress there) {}

  /** Returns the path of a carrier with a single plane; null for a carrier of several planes. */
  @Nullable PlaneRoute routeOf(int carrier) {
    Carrier asked = carriers.get(carrier);
    if (!asked.isOnePlane()) {
      return null;
    }
    int plane = asked.first();
    return new PlaneRoute(
        planes.local(plane).key(),
        planes.local(plane).gid().toAddress(),
        planes.remoteGid(plane).toAddress());
  }

  @Override
  public void planeLost(LocalPlane plane, String cause) {
    int carrier = carrierOf(plane);
    Failover begun = failover;
    if (carrier >= 0 && begun != null) {
      begun.reportFailureNow(carrier, cause);
    } else {
      guarded(() -> markLinkDown(plane));
    }
  }

  @Override
  public void addressLost(Gid address, String cause) {
    int plane = planes.localGids().indexOf(address);
    Failover begun = failover;
    if (plane < 0 || begun == null) {
      return;
    }
    if (spansAllPlanes()) {
      guarded(() -> pairs().markLinkDown(plane));
      device.planes().forEach(this::planeMoved);
    } else {
      begun.reportFailureNow(plane, cause);
    }
  }

  /*
   * Handles a plane's new address. Only a carrier of several planes must react: it fails as a
   * whole, and all its queue pairs are replaced.
   */
  @Override
  public void planeMoved(LocalPlane plane) {
    Failover begun = failover;
    int link = planes.indexOf(plane);
    if (spansAllPlanes() && begun != null && link >= 0) {
      Gid before = planes.local(link).gid();
      if (!before.equals(plane.gid())) {
        begun.reportFailureNow(
            0, "plane %s is at %s now, not at %s".formatted(plane.key(), plane.gid(), before));
      }
    }
  }

  @Override
  public void publishAddresses() {
    if (planes.takeAddressesChanged()) {
      planeWeights.publishAddresses(planes.localGids(), planes.remoteGids());
      device.follow(this);
    }
  }

  @Override
  public void queuePairLost(int queuePairNumber, String reason) {
    int carrier = carrierOf(queuePairNumber);
    Failover begun = failover;
    if (carrier >= 0 && begun != null) {
      begun.queuePairLost(carrier, reason);
    }
  }

  @Override
  public void withdrawn(int plane) {
    /* A queue pair over all planes stops using a withdrawn plane by itself. */
    Failover begun = spansAllPlanes() ? null : failover;
    if (begun != null) {
      begun.withdrawn(plane);
    }
  }

  @Override
  public void drain(Set<String> keys) {
    Failover begun = failover;
    if (begun != null) {
      begun.drain(keys);
    }
  }

  @Override
  public void deviceFailed(String reason) {
    health.onDeviceFailure(reason);
  }

  @Override
  public void reportFailure(String reason) {
    health.reportOwnFailure(reason);
  }

  @Override
  public boolean isLeaving() {
    return health.isLeaving();
  }

  /* Stops using this plane in queue pairs that span several planes. */
  private void markLinkDown(LocalPlane plane) {
    int link = planes.indexOf(plane);
    if (spansAllPlanes() && link >= 0) {
      pairs().markLinkDown(link);
    }
  }

  /**
   * Closes queue pairs, completion queue, ring and memory. No other thread may drive the
   * communicator meanwhile.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    CarrierPairs made = pairs;
    if (made != null) {
      made.close();
    }
    arena.close();
    memory.close();
    device.removeConnection(this);
  }
}
