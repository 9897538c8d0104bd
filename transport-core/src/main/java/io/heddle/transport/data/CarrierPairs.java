package io.heddle.transport.data;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.spray.PlaneWeights;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Queue pairs of a connection, with the agreed number on each {@link Carrier} (the plane or planes
 * that a queue pair sends over). Creates, connects, stops and replaces them. Their order is the
 * first one of every carrier, then the second one of every carrier, and so on.
 *
 * <p>Control thread, unless stated otherwise.
 */
public final class CarrierPairs implements AutoCloseable {
  /*
   * Number last given to a connection. A device groups the connection's queue pairs by this number.
   */
  private static final AtomicLong PEERS = new AtomicLong(ReadyToSendAttributes.NO_PEER_GROUP);

  private final NetDevice device;
  private final PlaneEnds planes;
  private final List<Carrier> carriers;
  private final int perCarrier;
  private final PlaneQueuePair.QueueDepths depths;
  private final CompletionQueue cq;
  private final ConnectionWeights planeWeights;
  private final LinkCountReporter links = new LinkCountReporter();
  private final List<PlaneQueuePair> pairs = new ArrayList<>();
  private final long peer = PEERS.incrementAndGet();
  private int connected;
  private boolean isRefusing;
  private final Map<Integer, String> unconnected = new TreeMap<>();
  private PlaneQueuePair.LinkSettings settings = PlaneQueuePair.LinkSettings.DEFAULT;

  /**
   * Creates the completion queue, and no queue pair yet.
   *
   * @param planeWeights the weights by which queue pairs over several planes distribute packets
   */
  public CarrierPairs(
      NetDevice device,
      PlaneEnds planes,
      List<Carrier> carriers,
      int perCarrier,
      PlaneQueuePair.QueueDepths depths,
      ConnectionWeights planeWeights) {
    this.device = device;
    this.planes = planes;
    this.carriers = carriers;
    this.perCarrier = perCarrier;
    this.depths = depths;
    this.planeWeights = planeWeights;
    cq =
        device
            .context()
            .createCompletionQueue(
                carriers.size() * perCarrier * (depths.sends() + depths.receives()));
  }

  /** Creates all queue pairs. After a failure, {@link #close} closes those that were created. */
  public void make() {
    for (int i = 0; i < perCarrier; i++) {
      for (Carrier carrier : carriers) {
        add(makeOne(carrier));
      }
    }
  }

  /* Synchronized, since the thread heddle-routes may set weights at any time. */
  private synchronized void add(PlaneQueuePair made) {
    pairs.add(made);
  }

  private synchronized PlaneQueuePair replace(int index, PlaneQueuePair made) {
    return pairs.set(index, made);
  }

  private PlaneQueuePair makeOne(Carrier carrier) {
    try {
      return create(carrier);
    } catch (VerbsException refused) {
      if (refused.errno() != Errno.EADDRNOTAVAIL) {
        throw refused;
      }
      return PlaneQueuePair.withoutAddress(
          keyOf(carrier), planes.local(carrier.first()).gid(), device.pd(), cq, depths);
    }
  }

  private PlaneQueuePair create(Carrier carrier) {
    List<Gid> gids = carrier.planes().stream().map(plane -> planes.local(plane).gid()).toList();
    return PlaneQueuePair.create(keyOf(carrier), gids, device.pd(), cq, depths);
  }

  private String keyOf(Carrier carrier) {
    return carrier.isOnePlane() ? planes.local(carrier.first()).key() : carrier.name();
  }

  /** Returns this host's key of each carrier. */
  public List<String> keys() {
    return carriers.stream().map(this::keyOf).toList();
  }

  CompletionQueue completionQueue() {
    return cq;
  }

  public int perCarrier() {
    return perCarrier;
  }

  /** Returns this end's endpoints for the peer. */
  public List<ControlMessage.Endpoint> endpoints() {
    return IntStream.range(0, pairs.size()).mapToObj(this::endpoint).toList();
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

  /** Returns whether the peer's endpoints are for the agreed carriers, in the agreed order. */
  public boolean hasSameCarriers(List<ControlMessage.Endpoint> ends) {
    boolean agreed = ends.size() == pairs.size();
    for (int i = 0; agreed && i < ends.size(); i++) {
      agreed = ends.get(i).planeKey().equals(carriers.get(i % carriers.size()).name());
    }
    return agreed;
  }

  /**
   * Connects every queue pair to its peer. If a device refused one, a further call retries that
   * queue pair, or continues with the next one after {@link #leaveUnconnected}.
   *
   * @throws VerbsException where a device refuses
   */
  public void connect(List<ControlMessage.Endpoint> ends, PlaneQueuePair.LinkSettings asked) {
    settings = asked;
    while (connected < ends.size()) {
      connectOne(connected, 0, ends.get(connected));
      connected++;
    }
  }

  /**
   * Skips the queue pair that couldn't be connected; its carrier then counts as {@link
   * #unconnected}.
   *
   * @throws VerbsException when no carrier is left
   */
  public void leaveUnconnected(VerbsException refused) {
    unconnected.putIfAbsent(connected++ % carriers.size(), String.valueOf(refused.getMessage()));
    if (unconnected.size() == carriers.size()) {
      throw refused;
    }
  }

  /** Returns the reasons why carriers couldn't be connected, by index of the carrier. */
  public Map<Integer, String> unconnected() {
    return unconnected;
  }

  private void connectOne(int index, int epoch, ControlMessage.Endpoint end) {
    Carrier carrier = carriers.get(index % carriers.size());
    pairs
        .get(index)
        .connect(
            new PlaneQueuePair.RemoteEnd(
                planes.remoteGid(carrier.first()),
                end.queuePairNumber(),
                end.startPsn(),
                end.parameters(),
                peer),
            planes.smallestMtu(carrier.planes()),
            settings,
            SubFlow.receiveId(index, epoch));
    if (!carrier.isOnePlane()) {
      setLinkWeights();
    }
    refuseIfClosed(index);
  }

  /*
   * Makes a queue pair refuse requests if it was created after {@link #refuseRequests}. That is
   * early enough: a receiving end sends a fresh queue pair's number to the peer only after this
   * call.
   */
  private synchronized void refuseIfClosed(int index) {
    if (isRefusing) {
      pairs.get(index).queuePair().refuseRequests();
    }
  }

  /**
   * Refuses the peer's requests from now on, on these queue pairs and later ones; data that has
   * arrived is still acknowledged. Any thread.
   *
   * @throws VerbsException where a device fails to stop a queue pair
   */
  void refuseRequests() {
    List<PlaneQueuePair> now;
    synchronized (this) {
      isRefusing = true;
      now = List.copyOf(pairs);
    }
    now.forEach(pair -> pair.queuePair().refuseRequests());
  }

  /**
   * Returns the longest silence of the peer, in ns, among the queue pairs that wait for the peer
   * beyond their retries; 0 where none waits.
   */
  public long peerSilentNs() {
    long longest = 0;
    for (int i = 0; i < pairs.size(); i++) {
      longest = Math.max(longest, pairs.get(i).queuePair().peerSilentNs());
    }
    return longest;
  }

  /**
   * Returns the destinations of the unanswered packets, for the log; empty where there are none.
   */
  public String silentDestinations() {
    return pairs.stream()
        .map(PlaneQueuePair::queuePair)
        .filter(each -> each.peerSilentNs() > 0)
        .map(QueuePair::destination)
        .filter(each -> !each.isEmpty())
        .distinct()
        .collect(Collectors.joining(", "));
  }

  /** Returns the carriers that wait for the silent peer. */
  public List<Integer> waitingForPeer() {
    return IntStream.range(0, pairs.size())
        .filter(i -> pairs.get(i).queuePair().peerSilentNs() > 0)
        .map(i -> i % carriers.size())
        .distinct()
        .boxed()
        .toList();
  }

  /** Returns the smallest MTU of all planes. */
  PathMtu smallestMtu() {
    return planes.smallestMtu(IntStream.range(0, planes.count()).boxed().toList());
  }

  /**
   * Applies the newest weights to the queue pairs. The thread heddle-routes and the control thread
   * may call this in any order.
   */
  public synchronized void setLinkWeights() {
    PlaneWeights newest = planeWeights.current();
    int[] each = IntStream.range(0, newest.planes()).map(newest::weight).toArray();
    for (PlaneQueuePair pair : pairs) {
      pair.queuePair().setLinkWeights(each);
    }
  }

  /**
   * Creates fresh queue pairs for a carrier whose old ones are fenced at both ends, at its planes'
   * present addresses, and closes the old ones.
   *
   * @return their endpoints for the peer
   * @throws HeddleException where the device refuses, for example because the address is gone
   */
  public List<ControlMessage.Endpoint> renew(int carrier) {
    for (int plane : carriers.get(carrier).planes()) {
      planes.moveLocal(plane, device.refreshPlane(planes.local(plane)));
    }
    List<ControlMessage.Endpoint> fresh = new ArrayList<>();
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      PlaneQueuePair made = create(carriers.get(carrier));
      replace(i, made).close();
      fresh.add(endpoint(i));
    }
    return fresh;
  }

  /** Returns the carrier's planes at this end. */
  public List<LocalPlane> planesOf(int carrier) {
    return carriers.get(carrier).planes().stream().map(planes::local).toList();
  }

  /** Returns the addresses of the carrier's planes at this end. */
  public List<ControlMessage.PlaneAddress> localAddresses(int carrier) {
    return planesOf(carrier).stream()
        .map(plane -> new ControlMessage.PlaneAddress(plane.gid(), plane.mtu()))
        .toList();
  }

  /**
   * Connects the queue pairs of {@link #renew}.
   *
   * @param up the peer's addresses and endpoints
   * @return the carrier's sub-flows of the message's epoch
   * @throws HeddleException where the device refuses, or the peer's endpoints don't match
   */
  public List<SubFlow> connectRenewed(int carrier, ControlMessage.PlaneUp up) {
    List<ControlMessage.Endpoint> ends = up.endpoints();
    List<Integer> over = carriers.get(carrier).planes();
    if (ends.size() != perCarrier || up.addresses().size() != over.size()) {
      throw new HeddleException(
          "the other end has %s queue pairs at %s addresses for carrier %s, not %s at %s"
              .formatted(
                  ends.size(),
                  up.addresses().size(),
                  keyOf(carriers.get(carrier)),
                  perCarrier,
                  over.size()));
    }
    planes.moveRemote(over, up.addresses());
    List<SubFlow> fresh = new ArrayList<>();
    for (int i = 0; i < ends.size(); i++) {
      int index = carrier + i * carriers.size();
      connectOne(index, up.epoch(), ends.get(i));
      fresh.add(new SubFlow(index, carrier, up.epoch(), pairs.get(index)));
    }
    return fresh;
  }

  /**
   * Returns a new sub-flow for each queue pair, in the order of the queue pairs: the first one of
   * every carrier, then the second one of every carrier, and so on.
   */
  public SubFlow[] subFlows() {
    SubFlow[] flows = new SubFlow[pairs.size()];
    for (int i = 0; i < flows.length; i++) {
      flows[i] = new SubFlow(i, i % carriers.size(), 0, pairs.get(i));
    }
    return flows;
  }

  /** Adds the devices' counts of packets on each queue pair to the counters of its planes. */
  public void countResent() {
    for (int i = 0; i < pairs.size(); i++) {
      if (carriers.get(i % carriers.size()).isOnePlane()) {
        planeWeights.countResent(i % planes.count(), pairs.get(i));
      } else {
        links.report(i, pairs.get(i).queuePair(), planeWeights);
      }
    }
  }

  /**
   * Returns the index of the carrier that this queue pair sends over; −1 where the queue pair isn't
   * this connection's.
   */
  public int carrierOf(int queuePairNumber) {
    for (int i = 0; i < pairs.size(); i++) {
      if (pairs.get(i).queuePair().number() == queuePairNumber) {
        return i % carriers.size();
      }
    }
    return -1;
  }

  /**
   * Takes one link (plane) out of use in queue pairs that span several planes, since the host knows
   * that the link is down.
   */
  public void markLinkDown(int link) {
    pairs.forEach(pair -> pair.queuePair().linkLost(link));
  }

  /** Moves the carrier's queue pairs to ERROR: no later packet has any effect. */
  public void stop(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().toError();
    }
  }

  /** Moves the carrier's queue pairs to RESET. */
  public void reset(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().reset();
    }
  }

  /**
   * Describes the carrier and its addresses at both ends, for a log line. The description is the
   * same for all connections to the peer.
   */
  public String addressesOf(int carrier) {
    Carrier asked = carriers.get(carrier);
    return "plane %s (%s to %s)"
        .formatted(
            keyOf(asked), planes.local(asked.first()).gid(), planes.remoteGid(asked.first()));
  }

  /** Describes carrier, addresses and queue pairs, for a log line. */
  public String describe(int carrier) {
    return pairs.get(carrier).toString();
  }

  /**
   * Closes the queue pairs and the completion queue. No other thread may drive the communicator
   * meanwhile.
   */
  @Override
  public synchronized void close() {
    pairs.forEach(PlaneQueuePair::close);
    cq.close();
  }
}
