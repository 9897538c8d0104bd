package io.heddle.transport;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.spray.PlaneWeights;
import io.heddle.transport.stats.PlaneCounters;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What both ends of a connection have alike: the native memory, one completion queue, a queue pair
 * on each plane that both ends have. Made on the control thread during the handshake, then owned by
 * its communicator.
 */
final class Connection implements AutoCloseable {
  static final int REQUEST_LINES = 256;
  private static final int COMM_LINE_BYTES = 64;
  private static final int WANTED_SENDS = 256;
  private static final int WANTED_RECEIVES = 512;

  private final NetDevice device;
  private final Arena arena = Arena.ofShared();
  private final long commAddress;
  private final RequestLines lines;
  private final long ringAddress;
  private final MemoryRegion ring;
  private final PlaneQueuePair.QueueDepths depths;

  private @Nullable CompletionQueue cq;
  private List<LocalPlane> planes = List.of();
  private List<ControlMessage.PlaneOffer> remotePlanes = List.of();
  /* What both ends call the pairs of planes, in the same order. */
  private List<String> pairNames = List.of();
  /* One of each plane, then the second one of each plane, and so on. */
  private List<PlaneQueuePair> pairs = List.of();
  private int queuePairsPerPlane = 1;
  private int connectedPairs;
  private final Map<Integer, String> unconnected = new TreeMap<>();
  private PlaneQueuePair.LinkSettings settings = PlaneQueuePair.LinkSettings.DEFAULT;

  /* Of the planes once they are paired. */
  private ConnectionWeights weights = new ConnectionWeights(PlaneWeights.equal(1));
  private String peer = "a peer that has not said its name";
  private long peerRingAddress;
  private int peerRingKey;
  private int peerReceiveDepth;

  private final Standing standing = new Standing();
  private @Nullable Failover failover;
  private boolean closed;

  Connection(NetDevice device) {
    this.device = device;
    commAddress = Memory.allocate(arena, COMM_LINE_BYTES, COMM_LINE_BYTES);
    lines = new RequestLines(arena, REQUEST_LINES, commAddress);
    ringAddress = Memory.allocate(arena, ClearToSend.RING_BYTES, 4096);
    int limit = device.context().attributes().maxWorkRequests();
    depths =
        new PlaneQueuePair.QueueDepths(
            Math.min(WANTED_SENDS, limit), Math.min(WANTED_RECEIVES, limit));
    try {
      ring =
          device
              .pd()
              .registerMemory(
                  ringAddress,
                  ClearToSend.RING_BYTES,
                  EnumSet.of(
                      ProtectionDomain.Access.LOCAL_WRITE, ProtectionDomain.Access.REMOTE_WRITE));
    } catch (RuntimeException failure) {
      arena.close();
      throw failure;
    }
    device.opened(this);
  }

  /**
   * Pairs the planes by key and makes queue pairs on each that both ends have.
   *
   * @param queuePairs how many this end would make on each plane
   * @return what became of each plane
   * @throws HeddleException when no plane is common, or the peer has two planes on one address
   */
  PlanePairing pair(ControlMessage.PlaneList remote, int queuePairs) {
    peer = remote.host();
    PlanePairing.requireAddressesOfTheirOwn(peer, remote.planes());
    PlanePairing pairing = PlanePairing.of(device.planes(), remote.planes());
    if (pairing.pairs().isEmpty()) {
      throw new HeddleException(pairing.refusal(peer, device.planes(), remote.planes()));
    }
    planes = pairing.pairs().stream().map(PlanePairing.Pair::mine).toList();
    remotePlanes = pairing.pairs().stream().map(PlanePairing.Pair::theirs).toList();
    pairNames = pairing.pairs().stream().map(PlanePairing.Pair::name).toList();
    weights =
        new ConnectionWeights(
            device.weights().subset(planes.stream().mapToInt(device.planes()::indexOf).toArray()));
    queuePairsPerPlane =
        Math.min(
            Math.min(queuePairs, remote.queuePairsPerPlane()),
            ControlCodec.MAX_QUEUE_PAIRS / planes.size());
    device.follow(this);
    makeQueuePairs();
    return pairing;
  }

  private void makeQueuePairs() {
    CompletionQueue queue =
        device
            .context()
            .createCompletionQueue(
                planes.size() * queuePairsPerPlane * (depths.sends() + depths.receives()));
    cq = queue;
    List<PlaneQueuePair> made = new ArrayList<>();
    pairs = made;
    for (int i = 0; i < queuePairsPerPlane; i++) {
      for (LocalPlane plane : planes) {
        made.add(makeQueuePair(plane, queue));
      }
    }
  }

  private PlaneQueuePair makeQueuePair(LocalPlane plane, CompletionQueue queue) {
    try {
      return PlaneQueuePair.create(plane.key(), plane.gid(), device.pd(), queue, depths);
    } catch (VerbsException refused) {
      if (refused.errno() != Errno.EADDRNOTAVAIL) {
        throw refused;
      }
      return PlaneQueuePair.withoutAddress(plane.key(), plane.gid(), device.pd(), queue, depths);
    }
  }

  /** What the other end must know of ours. */
  ControlMessage.Endpoints endpoints() {
    List<ControlMessage.Endpoint> ends = new ArrayList<>();
    for (int i = 0; i < pairs.size(); i++) {
      ends.add(endpoint(i));
    }
    return new ControlMessage.Endpoints(ringAddress, ring.rkey(), depths.receives(), ends);
  }

  private ControlMessage.Endpoint endpoint(int index) {
    PlaneQueuePair pair = pairs.get(index);
    boolean there = pair.hasAddress();
    return new ControlMessage.Endpoint(
        pairNames.get(index % planes.size()),
        there ? pair.queuePair().number() : PlaneQueuePair.NO_ADDRESS,
        pair.startPsn(),
        there ? pair.queuePair().endpointParameters() : new byte[0]);
  }

  /**
   * Connects every queue pair to its other end. Where a device refuses, it may be called again and
   * goes on there, or with the next after {@link #leaveUnconnected}.
   *
   * @throws VerbsException where a device refuses
   * @throws HeddleException when the peer's list isn't the one that was agreed on
   */
  void connect(ControlMessage.Endpoints remote, PlaneQueuePair.LinkSettings asked) {
    settings = asked;
    List<ControlMessage.Endpoint> ends = remote.endpoints();
    boolean agreed = ends.size() == pairs.size();
    for (int i = 0; agreed && i < ends.size(); i++) {
      agreed = ends.get(i).planeKey().equals(pairNames.get(i % planes.size()));
    }
    if (!agreed) {
      throw new HeddleException(
          peer + " sent queue pairs for other planes than those that were agreed on");
    }
    while (connectedPairs < ends.size()) {
      connectPair(connectedPairs, 0, ends.get(connectedPairs));
      connectedPairs++;
    }
    peerRingAddress = remote.ringAddress();
    peerRingKey = remote.ringKey();
    peerReceiveDepth = remote.receiveDepth();
  }

  /**
   * The queue pair that couldn't be connected is given up for now, and its plane with it.
   *
   * @throws VerbsException when no plane is left
   */
  void leaveUnconnected(VerbsException refused) {
    unconnected.putIfAbsent(connectedPairs++ % planes.size(), String.valueOf(refused.getMessage()));
    if (unconnected.size() == planes.size()) {
      throw refused;
    }
  }

  /** Planes that couldn't be connected, and why. */
  Map<Integer, String> unconnected() {
    return unconnected;
  }

  private void connectPair(int index, int epoch, ControlMessage.Endpoint end) {
    int plane = index % planes.size();
    ControlMessage.PlaneOffer offer = remotePlanes.get(plane);
    PathMtu mtu = planes.get(plane).mtu().min(offer.mtu());
    pairs
        .get(index)
        .connect(
            new PlaneQueuePair.RemoteEnd(
                offer.gid(), end.queuePairNumber(), end.startPsn(), end.parameters()),
            mtu,
            settings,
            SubFlow.receiveId(index, epoch));
  }

  /**
   * Makes fresh queue pairs for a plane whose old ones are fenced at both ends, and closes the old
   * ones. Control thread.
   *
   * @return what the other end must know of them
   * @throws HeddleException where the device refuses, as when the address is gone
   */
  List<ControlMessage.Endpoint> renewPairs(int plane) {
    List<ControlMessage.Endpoint> fresh = new ArrayList<>();
    for (int i = plane; i < pairs.size(); i += planes.size()) {
      LocalPlane local = planes.get(plane);
      PlaneQueuePair made =
          PlaneQueuePair.create(local.key(), local.gid(), device.pd(), completionQueue(), depths);
      pairs.set(i, made).close();
      fresh.add(endpoint(i));
    }
    return fresh;
  }

  /**
   * Connects what {@link #renewPairs} made. Control thread.
   *
   * @return the plane's sub-flows of this epoch
   * @throws HeddleException where the device refuses, or the other end made something else
   */
  List<SubFlow> connectPairs(int plane, int epoch, List<ControlMessage.Endpoint> ends) {
    if (ends.size() != queuePairsPerPlane) {
      throw new HeddleException(
          "%s has %d queue pairs for plane %s, not %d"
              .formatted(peer, ends.size(), planes.get(plane).key(), queuePairsPerPlane));
    }
    List<SubFlow> fresh = new ArrayList<>();
    for (int i = 0; i < ends.size(); i++) {
      int index = plane + i * planes.size();
      connectPair(index, epoch, ends.get(i));
      fresh.add(new SubFlow(index, plane, epoch, pairs.get(index)));
    }
    return fresh;
  }

  /** What takes this connection off planes that fail. Before the communicator is driven. */
  void begin(Failover begun) {
    failover = begun;
  }

  /** Null before the communicator exists. */
  @Nullable Failover failover() {
    return failover;
  }

  NetDevice device() {
    return device;
  }

  Arena arena() {
    return arena;
  }

  long commAddress() {
    return commAddress;
  }

  RequestLines lines() {
    return lines;
  }

  long ringAddress() {
    return ringAddress;
  }

  int ringLocalKey() {
    return ring.lkey();
  }

  long peerRingAddress() {
    return peerRingAddress;
  }

  int peerRingKey() {
    return peerRingKey;
  }

  /**
   * Chunks that may be under way on one plane: half of what the peer keeps posted, and what our
   * queue holds.
   */
  int maxChunksPerPlane() {
    return Math.max(1, Math.min(peerReceiveDepth / 2, depths.sends() - 1));
  }

  CompletionQueue completionQueue() {
    CompletionQueue queue = cq;
    if (queue == null) {
      throw new IllegalStateException("the planes aren't paired yet");
    }
    return queue;
  }

  int queuePairsPerPlane() {
    return queuePairsPerPlane;
  }

  /** One sub-flow per plane in order of keys, then the second one of each plane, and so on. */
  SubFlow[] subFlows() {
    SubFlow[] flows = new SubFlow[pairs.size()];
    for (int i = 0; i < flows.length; i++) {
      flows[i] = new SubFlow(i, i % planes.size(), 0, pairs.get(i));
    }
    return flows;
  }

  /**
   * The longest write that is quick on all planes: the device's preference at the smallest path
   * MTU.
   */
  int preferredChunkBytes() {
    PathMtu smallest = PathMtu.MTU_4096;
    for (int i = 0; i < planes.size(); i++) {
      smallest = smallest.min(planes.get(i).mtu()).min(remotePlanes.get(i).mtu());
    }
    return device.context().preferredWriteBytes(smallest);
  }

  /** What to send by. */
  PlaneWeights weights() {
    return weights.current();
  }

  /** The weights with all that bears on them. */
  ConnectionWeights allWeights() {
    return weights;
  }

  /** Adds what the queue pairs have sent again to the counters. Control thread. */
  void tellResent() {
    for (int i = 0; i < pairs.size(); i++) {
      weights.tellResent(i % planes.size(), pairs.get(i));
    }
  }

  /**
   * The counters end: they may be another connection's soon. What still happens is counted where
   * nobody reads.
   */
  PlaneCounters[] uncounted() {
    weights.forgetCounters();
    PlaneCounters[] spare = new PlaneCounters[planes.size()];
    for (int i = 0; i < spare.length; i++) {
      spare[i] = PlaneCounters.unpublished(arena);
    }
    return spare;
  }

  /** The peer's address on each plane, in order of keys; empty before the planes are paired. */
  List<Gid> remoteGids() {
    return remotePlanes.stream().map(ControlMessage.PlaneOffer::gid).toList();
  }

  /** This end's address on each plane. */
  List<Gid> localGids() {
    return planes.stream().map(LocalPlane::gid).toList();
  }

  String peer() {
    return peer;
  }

  /** What both ends call each plane. */
  List<String> pairNames() {
    return pairNames;
  }

  List<String> planeKeys() {
    return planes.stream().map(LocalPlane::key).toList();
  }

  /** Whether both ends are there and well. */
  Standing standing() {
    return standing;
  }

  /** The plane of this queue pair; −1 where it isn't this connection's. Control thread. */
  int planeOf(int queuePairNumber) {
    for (int i = 0; i < pairs.size(); i++) {
      if (pairs.get(i).queuePair().number() == queuePairNumber) {
        return i % planes.size();
      }
    }
    return -1;
  }

  /** Which of the connection's planes this is; −1 where it isn't one. */
  int indexOf(LocalPlane plane) {
    return planes.indexOf(plane);
  }

  /** Moves the plane's queue pairs to ERROR: no later packet has any effect. Control thread. */
  void stopPairs(int plane) {
    for (int i = plane; i < pairs.size(); i += planes.size()) {
      pairs.get(i).queuePair().toError();
    }
  }

  /** Takes the plane's queue pairs back to RESET. Control thread. */
  void resetPairs(int plane) {
    for (int i = plane; i < pairs.size(); i += planes.size()) {
      pairs.get(i).queuePair().reset();
    }
  }

  /** Plane, addresses and queue pairs, for a log line. Control thread. */
  String describe(int plane) {
    return pairs.get(plane).toString();
  }

  /**
   * Closes queue pairs, completion queue, ring and memory. Not while another thread drives the
   * communicator.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    pairs.forEach(PlaneQueuePair::close);
    CompletionQueue queue = cq;
    if (queue != null) {
      queue.close();
    }
    ring.close();
    arena.close();
    device.closed(this);
  }
}
