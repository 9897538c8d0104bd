package io.heddle.transport;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.MemoryCalls;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What both ends of a connection have alike: the native memory, one completion queue, a queue pair
 * on each plane that both ends have. Made on the control thread during the handshake, then owned by
 * its communicator.
 */
final class Connection implements AutoCloseable {
  static final int REQUEST_LINES = 256;
  /* ring | table | line of the communicator | its requests' lines */
  private static final long TABLE_AT = ClearToSend.RING_BYTES;
  private static final long COMM_AT = TABLE_AT + Communicator.TABLE_BYTES;
  private static final long LINES_AT = COMM_AT + RequestLines.BYTES;
  private static final long MEMORY_BYTES = LINES_AT + (long) REQUEST_LINES * RequestLines.BYTES;
  private static final int WANTED_SENDS = 256;
  private static final int WANTED_RECEIVES = 512;

  private final NetDevice device;
  private final Arena arena = Arena.ofShared();
  /* Mapped: costs pages only where something was, which is nowhere on a connection that idles. */
  private final long memory;
  private final RequestLines lines;
  private final MemoryRegion ring;
  private final PlaneQueuePair.QueueDepths depths;

  private List<LocalPlane> planes = List.of();
  private List<ControlMessage.PlaneOffer> remotePlanes = List.of();
  /* What both ends call the pairs of planes, in the same order. */
  private List<String> pairNames = List.of();
  /* What queue pairs are made on: each plane, or all of them together. */
  private List<Carrier> carriers = List.of();
  private @Nullable CarrierPairs pairs;

  /* Of the planes once they are paired, and of the carriers: the same where each plane is one. */
  private ConnectionWeights planeWeights = new ConnectionWeights(PlaneWeights.equal(1));
  private ConnectionWeights weights = planeWeights;
  private String peer = "a peer that has not said its name";
  private long peerRingAddress;
  private int peerRingKey;
  private int peerReceiveDepth;

  private final Standing standing = new Standing();
  private @Nullable Failover failover;
  private boolean closed;

  /**
   * @param inlineBytes as {@link PlaneQueuePair.QueueDepths} has it
   */
  Connection(NetDevice device, int inlineBytes) {
    this.device = device;
    memory = MemoryCalls.mapMemory(MEMORY_BYTES);
    if (memory < 0) {
      throw new HeddleException(
          "no memory for another connection: %s bytes, %s; limits: ulimit -v, vm.max_map_count"
              .formatted(MEMORY_BYTES, Errno.describe((int) -memory)));
    }
    MemoryCalls.wantSmallPages(memory, MEMORY_BYTES);
    lines = new RequestLines(memory + LINES_AT, REQUEST_LINES, commAddress());
    int limit = device.context().attributes().maxWorkRequests();
    depths =
        new PlaneQueuePair.QueueDepths(
            Math.min(WANTED_SENDS, limit), Math.min(WANTED_RECEIVES, limit), inlineBytes);
    try {
      ring =
          device
              .pd()
              .registerMemory(
                  ringAddress(),
                  ClearToSend.RING_BYTES,
                  EnumSet.of(
                      ProtectionDomain.Access.LOCAL_WRITE, ProtectionDomain.Access.REMOTE_WRITE));
    } catch (RuntimeException failure) {
      free();
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
          ("HEDDLE_POLICY=packet takes %s planes at most on %s, and %s are common with %s: name"
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
    }
    int perCarrier =
        Math.min(
            Math.min(queuePairs, remote.queuePairsPerPlane()),
            ControlCodec.MAX_QUEUE_PAIRS / carriers.size());
    CarrierPairs made =
        new CarrierPairs(device, planes, remotePlanes, carriers, perCarrier, depths, planeWeights);
    pairs = made;
    if (joined) {
      planeWeights.onChange(made::weighLinks);
    }
    device.follow(this);
    made.make();
    return pairing;
  }

  /** The queue pairs, once the planes are paired. */
  CarrierPairs pairs() {
    CarrierPairs made = pairs;
    if (made == null) {
      throw new IllegalStateException("the planes aren't paired yet");
    }
    return made;
  }

  /** What the other end must know of ours. */
  ControlMessage.Endpoints endpoints() {
    return new ControlMessage.Endpoints(
        ringAddress(), ring.rkey(), depths.receives(), pairs().endpoints());
  }

  /**
   * Connects every queue pair, as {@link CarrierPairs#connect} has it.
   *
   * @throws VerbsException where a device refuses
   * @throws HeddleException when the peer's list isn't the one that was agreed on
   */
  void connect(ControlMessage.Endpoints remote, PlaneQueuePair.LinkSettings asked) {
    if (!pairs().isAgreed(remote.endpoints())) {
      throw new HeddleException(
          peer + " sent queue pairs for other planes than those that were agreed on");
    }
    pairs().connect(remote.endpoints(), asked);
    peerRingAddress = remote.ringAddress();
    peerRingKey = remote.ringKey();
    peerReceiveDepth = remote.receiveDepth();
  }

  /** What takes this connection off planes that fail. Before the communicator is driven. */
  void begin(Failover begun) {
    failover = begun;
  }

  /** Does something of this connection on the control thread; what it throws ends it alone. */
  void guarded(Runnable task) {
    Failover begun = failover;
    if (begun == null) {
      task.run();
    } else {
      begun.guarded(task);
    }
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
    return memory + COMM_AT;
  }

  RequestLines lines() {
    return lines;
  }

  long ringAddress() {
    return memory;
  }

  /** {@link Communicator#TABLE_BYTES} of zeros, for a table of the communicator's. */
  long tableAddress() {
    return memory + TABLE_AT;
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

  /**
   * The longest write that is quick on all planes: the device's preference at the smallest path
   * MTU.
   */
  int preferredChunkBytes() {
    return device.context().preferredWriteBytes(pairs().smallestMtu());
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
    CarrierPairs made = pairs;
    if (made != null) {
      made.tellResent();
    }
  }

  /** Looks whether the peer is silent on all planes. Control thread. */
  void lookForSilence() {
    Failover begun = failover;
    if (begun != null) {
      begun.lookForSilence();
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
    return carriers.stream().map(pairs()::keyOf).toList();
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
    CarrierPairs made = pairs;
    return made == null ? -1 : made.carrierOf(queuePairNumber);
  }

  /**
   * The carrier that fails with this plane; −1 where it isn't this connection's, or is one of
   * several under a queue pair, which leaves it by itself.
   */
  int carrierOf(LocalPlane plane) {
    return isTogether() ? -1 : planes.indexOf(plane);
  }

  /** The control channel goes another way where it goes by this carrier's plane. Control thread. */
  void leaveChannelOf(int carrier, PeerLink channel) {
    Carrier left = carriers.get(carrier);
    if (left.isOnePlane()) {
      int plane = left.first();
      channel.leave(
          left.name(),
          planes.get(plane).gid().toAddress(),
          remotePlanes.get(plane).gid().toAddress());
    }
  }

  /** This plane, where it is one of several under a queue pair, carries nothing. Control thread. */
  void leaveLink(LocalPlane plane) {
    int link = planes.indexOf(plane);
    if (isTogether() && link >= 0) {
      pairs().leaveLink(link);
    }
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
    CarrierPairs made = pairs;
    if (made != null) {
      made.close();
    }
    ring.close();
    free();
    device.closed(this);
  }

  private void free() {
    arena.close();
    MemoryCalls.unmapMemory(memory, MEMORY_BYTES);
  }
}
