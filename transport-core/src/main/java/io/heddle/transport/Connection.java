package io.heddle.transport;

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
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What both ends of a connection have alike: the native memory, one completion queue, a queue pair
 * on each plane that both ends have. Made on the control thread during the handshake, then owned by
 * its communicator.
 */
final class Connection implements AutoCloseable {
  /** Peer state: there as far as we know. */
  static final int PEER_THERE = 0;

  /** Peer state: it closed its end in good order; what it sent before still completes. */
  static final int PEER_CLOSED = 1;

  /** Peer state: its control channel broke. */
  static final int PEER_LOST = 2;

  /** Peer state: it said that it failed by itself. */
  static final int PEER_FAILED = 3;

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
  private PlaneCounters[] counters = {};

  /* Written when the planes are paired and whenever routes change; read by the thread that drives the communicator. */
  private volatile PlaneWeights weights = PlaneWeights.equal(1);
  private String peer = "a peer that has not said its name";
  private long peerRingAddress;
  private int peerRingKey;
  private int peerReceiveDepth;

  /* Written by the control thread; reason first. Read by the thread that drives the communicator. */
  private String peerReason = "";
  private volatile int peerState = PEER_THERE;
  private volatile boolean leaving;
  /* Written by the control thread, read by the driving one. */
  private volatile @Nullable String deviceFailure;
  /* Set before the communicator exists. */
  private Consumer<String> peersEar = story -> {};
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
   * @throws HeddleException when no plane is common
   */
  PlanePairing pair(ControlMessage.PlaneList remote, int queuePairs) {
    peer = remote.host();
    PlanePairing pairing = PlanePairing.of(device.planes(), remote.planes());
    if (pairing.pairs().isEmpty()) {
      throw new HeddleException(pairing.refusal(peer, device.planes(), remote.planes()));
    }
    planes = pairing.pairs().stream().map(PlanePairing.Pair::mine).toList();
    remotePlanes = pairing.pairs().stream().map(PlanePairing.Pair::theirs).toList();
    pairNames = pairing.pairs().stream().map(PlanePairing.Pair::name).toList();
    weights = device.weights().subset(planes.stream().mapToInt(device.planes()::indexOf).toArray());
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
        made.add(PlaneQueuePair.create(plane.key(), plane.gid(), device.pd(), queue, depths));
      }
    }
  }

  /** What the other end must know of ours. */
  ControlMessage.Endpoints endpoints() {
    List<ControlMessage.Endpoint> ends = new ArrayList<>();
    for (int i = 0; i < pairs.size(); i++) {
      PlaneQueuePair pair = pairs.get(i);
      ends.add(
          new ControlMessage.Endpoint(
              pairNames.get(i % planes.size()),
              pair.queuePair().number(),
              pair.startPsn(),
              pair.queuePair().endpointParameters()));
    }
    return new ControlMessage.Endpoints(ringAddress, ring.rkey(), depths.receives(), ends);
  }

  /**
   * Connects every queue pair to its other end. Where a device refuses, it may be called again and
   * goes on there.
   *
   * @throws HeddleException when the peer's list isn't the one that was agreed on
   */
  void connect(ControlMessage.Endpoints remote, PlaneQueuePair.LinkSettings settings) {
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
      int i = connectedPairs;
      int plane = i % planes.size();
      ControlMessage.PlaneOffer offer = remotePlanes.get(plane);
      PathMtu mtu = planes.get(plane).mtu().min(offer.mtu());
      pairs
          .get(i)
          .connect(
              new PlaneQueuePair.RemoteEnd(
                  offer.gid(),
                  ends.get(i).queuePairNumber(),
                  ends.get(i).startPsn(),
                  ends.get(i).parameters()),
              mtu,
              settings,
              i);
      connectedPairs++;
    }
    peerRingAddress = remote.ringAddress();
    peerRingKey = remote.ringKey();
    peerReceiveDepth = remote.receiveDepth();
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
      flows[i] = new SubFlow(i, i % planes.size(), pairs.get(i));
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

  PlaneWeights weights() {
    return weights;
  }

  /** Sends by these weights from the next chunk on. Any thread. */
  synchronized void setWeights(PlaneWeights next) {
    weights = next;
    tellWeights();
  }

  /** The counters that show the weights. */
  synchronized void setCounters(PlaneCounters[] shown) {
    counters = shown;
    tellWeights();
  }

  /** The counters end; they may be another connection's soon. */
  synchronized void forgetCounters() {
    counters = new PlaneCounters[0];
  }

  /** Adds what the queue pairs have sent again to the counters. Control thread. */
  synchronized void tellResent() {
    for (int i = 0; i < pairs.size() && counters.length > 0; i++) {
      counters[i % planes.size()].resent(pairs.get(i).newlyResent());
    }
  }

  private void tellWeights() {
    PlaneWeights current = weights;
    for (int i = 0; i < counters.length; i++) {
      counters[i].setWeight(current.weight(i), current.source());
    }
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

  List<String> planeKeys() {
    return planes.stream().map(LocalPlane::key).toList();
  }

  /**
   * Who carries word of our failure to the peer, from any thread. Before the communicator exists.
   */
  void tellFailuresTo(Consumer<String> ear) {
    peersEar = ear;
  }

  /** This end's communicator failed; the peer hears why, unless it is gone itself. Any thread. */
  void failedHere(String story) {
    if (peerState == PEER_THERE) {
      peersEar.accept(story);
    }
  }

  /** The device says that it, or a queue pair of this connection, is broken. Control thread. */
  void deviceFailed(String story) {
    if (deviceFailure == null && peerState == PEER_THERE && !leaving) {
      deviceFailure = story;
    }
  }

  /** What the device said; null while nothing. */
  @Nullable String deviceFailure() {
    return deviceFailure;
  }

  /** The control channel says that the peer is gone. Control thread. */
  void peerGone(int state, String reason) {
    if (peerState == PEER_THERE) {
      peerReason = reason;
      peerState = state;
    }
  }

  int peerState() {
    return peerState;
  }

  /** How and why the peer is gone; meaningful once {@link #peerState} says so. */
  String peerReason() {
    return (peerState == PEER_FAILED ? "the other end failed: " : "the peer is gone: ")
        + peerReason;
  }

  /** This end has said goodbye, or is about to. Any thread. */
  void leave() {
    leaving = true;
  }

  boolean isLeaving() {
    return leaving;
  }

  /** Control thread. */
  boolean hasQueuePair(int number) {
    return pairs.stream().anyMatch(pair -> pair.queuePair().number() == number);
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
