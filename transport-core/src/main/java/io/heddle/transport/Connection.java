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
import java.util.stream.IntStream;
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
  /* What queue pairs are made on: each plane, or all of them together. */
  private List<Carrier> carriers = List.of();
  /* One on each carrier, then the second one on each, and so on. */
  private List<PlaneQueuePair> pairs = List.of();
  private int queuePairsPerPlane = 1;
  private int connectedPairs;
  private final Map<Integer, String> unconnected = new TreeMap<>();
  private PlaneQueuePair.LinkSettings settings = PlaneQueuePair.LinkSettings.DEFAULT;

  /* Of the planes once they are paired, and of the carriers: the same where each plane is one. */
  private ConnectionWeights planeWeights = new ConnectionWeights(PlaneWeights.equal(1));
  private ConnectionWeights weights = planeWeights;
  private final LinkTeller links = new LinkTeller();
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
   * @param together whether each queue pair is to go over all planes, as the policy packet has it
   * @return what became of each plane
   * @throws HeddleException when no plane is common, or the peer has two planes on one address
   */
  PlanePairing pair(ControlMessage.PlaneList remote, int queuePairs, boolean together) {
    peer = remote.host();
    PlanePairing.requireAddressesOfTheirOwn(peer, remote.planes());
    PlanePairing pairing = PlanePairing.of(device.planes(), remote.planes());
    if (pairing.pairs().isEmpty()) {
      throw new HeddleException(pairing.refusal(peer, device.planes(), remote.planes()));
    }
    planes = pairing.pairs().stream().map(PlanePairing.Pair::mine).toList();
    remotePlanes = pairing.pairs().stream().map(PlanePairing.Pair::theirs).toList();
    pairNames = pairing.pairs().stream().map(PlanePairing.Pair::name).toList();
    /* One plane alone is a carrier like any. */
    boolean joined = together && planes.size() > 1;
    int mostLinks = device.context().mostLinks();
    if (joined && planes.size() > mostLinks) {
      throw new HeddleException(
          ("HEDDLE_POLICY=packet takes %d planes at most on %s, and %d are common with %s: name"
                  + " fewer with HEDDLE_PLANES, or set another policy")
              .formatted(mostLinks, device.name(), planes.size(), peer));
    }
    carriers = joined ? Carrier.ofAll(pairNames) : Carrier.ofEach(pairNames);
    planeWeights =
        new ConnectionWeights(
            device.weights().subset(planes.stream().mapToInt(device.planes()::indexOf).toArray()));
    weights = planeWeights;
    if (joined) {
      weights = new ConnectionWeights(PlaneWeights.equal(1, "all planes together"));
      planeWeights.onChange(this::weighLinks);
    }
    queuePairsPerPlane =
        Math.min(
            Math.min(queuePairs, remote.queuePairsPerPlane()),
            ControlCodec.MAX_QUEUE_PAIRS / carriers.size());
    device.follow(this);
    makeQueuePairs();
    return pairing;
  }

  private void makeQueuePairs() {
    CompletionQueue queue =
        device
            .context()
            .createCompletionQueue(
                carriers.size() * queuePairsPerPlane * (depths.sends() + depths.receives()));
    cq = queue;
    List<PlaneQueuePair> made = new ArrayList<>();
    pairs = made;
    for (int i = 0; i < queuePairsPerPlane; i++) {
      for (Carrier carrier : carriers) {
        made.add(makeQueuePair(carrier, queue));
      }
    }
  }

  private PlaneQueuePair makeQueuePair(Carrier carrier, CompletionQueue queue) {
    try {
      return create(carrier, queue);
    } catch (VerbsException refused) {
      if (refused.errno() != Errno.EADDRNOTAVAIL) {
        throw refused;
      }
      return PlaneQueuePair.withoutAddress(
          keyOf(carrier), planes.get(carrier.first()).gid(), device.pd(), queue, depths);
    }
  }

  private PlaneQueuePair create(Carrier carrier, CompletionQueue queue) {
    List<Gid> gids = carrier.planes().stream().map(plane -> planes.get(plane).gid()).toList();
    return PlaneQueuePair.create(keyOf(carrier), gids, device.pd(), queue, depths);
  }

  /* How this host calls a carrier. */
  private String keyOf(Carrier carrier) {
    return carrier.isOnePlane() ? planes.get(carrier.first()).key() : carrier.name();
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
        carriers.get(index % carriers.size()).name(),
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
      agreed = ends.get(i).planeKey().equals(carriers.get(i % carriers.size()).name());
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
    unconnected.putIfAbsent(
        connectedPairs++ % carriers.size(), String.valueOf(refused.getMessage()));
    if (unconnected.size() == carriers.size()) {
      throw refused;
    }
  }

  /** Carriers that couldn't be connected, and why. */
  Map<Integer, String> unconnected() {
    return unconnected;
  }

  private void connectPair(int index, int epoch, ControlMessage.Endpoint end) {
    Carrier carrier = carriers.get(index % carriers.size());
    pairs
        .get(index)
        .connect(
            new PlaneQueuePair.RemoteEnd(
                remotePlanes.get(carrier.first()).gid(),
                end.queuePairNumber(),
                end.startPsn(),
                end.parameters()),
            smallestMtu(carrier.planes()),
            settings,
            SubFlow.receiveId(index, epoch));
    if (!carrier.isOnePlane()) {
      weighLinks();
    }
  }

  private PathMtu smallestMtu(List<Integer> of) {
    PathMtu smallest = PathMtu.MTU_4096;
    for (int plane : of) {
      smallest = smallest.min(planes.get(plane).mtu()).min(remotePlanes.get(plane).mtu());
    }
    return smallest;
  }

  /* The newest weights, whichever thread comes last: the routes' or the control thread. */
  private synchronized void weighLinks() {
    PlaneWeights newest = planeWeights.current();
    int[] each = IntStream.range(0, newest.planes()).map(newest::weight).toArray();
    for (PlaneQueuePair pair : pairs) {
      pair.queuePair().weighLinks(each);
    }
  }

  /**
   * Makes fresh queue pairs for a carrier whose old ones are fenced at both ends, and closes the
   * old ones. Control thread.
   *
   * @return what the other end must know of them
   * @throws HeddleException where the device refuses, as when the address is gone
   */
  List<ControlMessage.Endpoint> renewPairs(int carrier) {
    List<ControlMessage.Endpoint> fresh = new ArrayList<>();
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      PlaneQueuePair made = create(carriers.get(carrier), completionQueue());
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
  List<SubFlow> connectPairs(int carrier, int epoch, List<ControlMessage.Endpoint> ends) {
    if (ends.size() != queuePairsPerPlane) {
      throw new HeddleException(
          "%s has %d queue pairs for carrier %s, not %d"
              .formatted(peer, ends.size(), keyOf(carriers.get(carrier)), queuePairsPerPlane));
    }
    List<SubFlow> fresh = new ArrayList<>();
    for (int i = 0; i < ends.size(); i++) {
      int index = carrier + i * carriers.size();
      connectPair(index, epoch, ends.get(i));
      fresh.add(new SubFlow(index, carrier, epoch, pairs.get(index)));
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

  /** One sub-flow per carrier in order of keys, then the second one of each, and so on. */
  SubFlow[] subFlows() {
    SubFlow[] flows = new SubFlow[pairs.size()];
    for (int i = 0; i < flows.length; i++) {
      flows[i] = new SubFlow(i, i % carriers.size(), 0, pairs.get(i));
    }
    return flows;
  }

  /**
   * The longest write that is quick on all planes: the device's preference at the smallest path
   * MTU.
   */
  int preferredChunkBytes() {
    return device
        .context()
        .preferredWriteBytes(smallestMtu(IntStream.range(0, planes.size()).boxed().toList()));
  }

  /** What to choose carriers by. */
  PlaneWeights weights() {
    return weights.current();
  }

  /** The weights of the carriers, with all that bears on them. */
  ConnectionWeights carrierWeights() {
    return weights;
  }

  /** The weights of the planes, whether each is a carrier or not. */
  ConnectionWeights planeWeights() {
    return planeWeights;
  }

  /** Whether each queue pair goes over all planes. */
  boolean isTogether() {
    return weights != planeWeights;
  }

  /** Adds what the devices have counted of the queue pairs to the counters. Control thread. */
  void tellResent() {
    for (int i = 0; i < pairs.size(); i++) {
      if (isTogether()) {
        links.tell(i, pairs.get(i).queuePair(), planeWeights);
      } else {
        planeWeights.tellResent(i % planes.size(), pairs.get(i));
      }
    }
  }

  /**
   * The counters end: they may be another connection's soon. What still happens is counted where
   * nobody reads.
   */
  PlaneCounters[] uncounted() {
    if (isTogether()) {
      tellResent();
    }
    planeWeights.forgetCounters();
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

  /** What both ends call each carrier. */
  List<String> carrierNames() {
    return carriers.stream().map(Carrier::name).toList();
  }

  /** What this host calls each carrier. */
  List<String> carrierKeys() {
    return carriers.stream().map(this::keyOf).toList();
  }

  List<String> planeKeys() {
    return planes.stream().map(LocalPlane::key).toList();
  }

  /** Whether both ends are there and well. */
  Standing standing() {
    return standing;
  }

  /** The carrier of this queue pair; −1 where it isn't this connection's. Control thread. */
  int carrierOf(int queuePairNumber) {
    for (int i = 0; i < pairs.size(); i++) {
      if (pairs.get(i).queuePair().number() == queuePairNumber) {
        return i % carriers.size();
      }
    }
    return -1;
  }

  /**
   * The carrier that fails with this plane; −1 where it isn't this connection's, or is one of
   * several under a queue pair, which leaves it by itself.
   */
  int carrierOf(LocalPlane plane) {
    return isTogether() ? -1 : planes.indexOf(plane);
  }

  /** Moves the carrier's queue pairs to ERROR: no later packet has any effect. Control thread. */
  void stopPairs(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().toError();
    }
  }

  /** Takes the carrier's queue pairs back to RESET. Control thread. */
  void resetPairs(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().reset();
    }
  }

  /** Carrier, addresses and queue pairs, for a log line. Control thread. */
  String describe(int carrier) {
    return pairs.get(carrier).toString();
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
