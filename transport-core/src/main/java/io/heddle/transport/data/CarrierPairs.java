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
 * The queue pairs of a connection, on each carrier as many as both ends agreed on: made, connected,
 * stopped and made anew. One on each carrier, then the second one on each, and so on.
 *
 * <p>Control thread, where nothing else is said.
 */
public final class CarrierPairs implements AutoCloseable {
  /* The last number by which a device knows together the queue pairs of one connection. */
  private static final AtomicLong PEERS = new AtomicLong(ReadyToSendAttributes.ALONE);

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
  private boolean refuses;
  private final Map<Integer, String> unconnected = new TreeMap<>();
  private PlaneQueuePair.LinkSettings settings = PlaneQueuePair.LinkSettings.DEFAULT;

  /**
   * Makes no queue pair yet.
   *
   * @param planeWeights what queue pairs over several planes share out by
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

  /** Makes them all; what was made before a failure is closed with the rest. */
  public void make() {
    for (int i = 0; i < perCarrier; i++) {
      for (Carrier carrier : carriers) {
        add(makeOne(carrier));
      }
    }
  }

  /* Routes may have their weights at any time. */
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
          keyOf(carrier), planes.here(carrier.first()).gid(), device.pd(), cq, depths);
    }
  }

  private PlaneQueuePair create(Carrier carrier) {
    List<Gid> gids = carrier.planes().stream().map(plane -> planes.here(plane).gid()).toList();
    return PlaneQueuePair.create(keyOf(carrier), gids, device.pd(), cq, depths);
  }

  private String keyOf(Carrier carrier) {
    return carrier.isOnePlane() ? planes.here(carrier.first()).key() : carrier.name();
  }

  /** How this host calls each carrier. */
  public List<String> keys() {
    return carriers.stream().map(this::keyOf).toList();
  }

  CompletionQueue completionQueue() {
    return cq;
  }

  public int perCarrier() {
    return perCarrier;
  }

  /** What the other end must know of ours. */
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

  /** Whether the other end's list is the one that was agreed on. */
  public boolean isAgreed(List<ControlMessage.Endpoint> ends) {
    boolean agreed = ends.size() == pairs.size();
    for (int i = 0; agreed && i < ends.size(); i++) {
      agreed = ends.get(i).planeKey().equals(carriers.get(i % carriers.size()).name());
    }
    return agreed;
  }

  /**
   * Connects every queue pair to its other end. Where a device refuses, it may be called again and
   * goes on there, or with the next after {@link #leaveUnconnected}.
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
   * The queue pair that couldn't be connected is given up for now, and its plane with it.
   *
   * @throws VerbsException when no plane is left
   */
  public void leaveUnconnected(VerbsException refused) {
    unconnected.putIfAbsent(connected++ % carriers.size(), String.valueOf(refused.getMessage()));
    if (unconnected.size() == carriers.size()) {
      throw refused;
    }
  }

  /** Carriers that couldn't be connected, and why. */
  public Map<Integer, String> unconnected() {
    return unconnected;
  }

  private void connectOne(int index, int epoch, ControlMessage.Endpoint end) {
    Carrier carrier = carriers.get(index % carriers.size());
    pairs
        .get(index)
        .connect(
            new PlaneQueuePair.RemoteEnd(
                planes.there(carrier.first()),
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

  /* One that is made after the close; the peer hears of it only then. */
  private synchronized void refuseIfClosed(int index) {
    if (refuses) {
      pairs.get(index).queuePair().refuseRequests();
    }
  }

  /**
   * Nothing that the peer sends has an effect any more, by these queue pairs or later ones; what
   * has come is still acknowledged. Any thread.
   *
   * @throws VerbsException where a device refuses to stop one
   */
  void refuseRequests() {
    List<PlaneQueuePair> now;
    synchronized (this) {
      refuses = true;
      now = List.copyOf(pairs);
    }
    now.forEach(pair -> pair.queuePair().refuseRequests());
  }

  /**
   * For how long the peer has been silent on all carriers while one waits for it beyond its
   * retries, in ns; 0 where none does.
   */
  public long peerSilentNs() {
    long longest = 0;
    for (int i = 0; i < pairs.size(); i++) {
      longest = Math.max(longest, pairs.get(i).queuePair().peerSilentNs());
    }
    return longest;
  }

  /** Ports that packets which wait so went to, as a person reads them; empty where none has any. */
  public String silentDestinations() {
    return pairs.stream()
        .map(PlaneQueuePair::queuePair)
        .filter(each -> each.peerSilentNs() > 0)
        .map(QueuePair::destination)
        .filter(each -> !each.isEmpty())
        .distinct()
        .collect(Collectors.joining(", "));
  }

  /** Carriers that wait so. */
  public List<Integer> waitingForPeer() {
    return IntStream.range(0, pairs.size())
        .filter(i -> pairs.get(i).queuePair().peerSilentNs() > 0)
        .map(i -> i % carriers.size())
        .distinct()
        .boxed()
        .toList();
  }

  /** Over all planes. */
  PathMtu smallestMtu() {
    return planes.smallestMtu(IntStream.range(0, planes.count()).boxed().toList());
  }

  /** The newest weights, whichever thread comes last: the routes' or the control thread. */
  public synchronized void setLinkWeights() {
    PlaneWeights newest = planeWeights.current();
    int[] each = IntStream.range(0, newest.planes()).map(newest::weight).toArray();
    for (PlaneQueuePair pair : pairs) {
      pair.queuePair().setLinkWeights(each);
    }
  }

  /**
   * Makes fresh queue pairs for a carrier whose old ones are fenced at both ends, where its planes
   * are now, and closes the old ones.
   *
   * @return what the other end must know of them
   * @throws HeddleException where the device refuses, as when the address is gone
   */
  public List<ControlMessage.Endpoint> renew(int carrier) {
    for (int plane : carriers.get(carrier).planes()) {
      planes.moveHere(plane, device.again(planes.here(plane)));
    }
    List<ControlMessage.Endpoint> fresh = new ArrayList<>();
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      PlaneQueuePair made = create(carriers.get(carrier));
      replace(i, made).close();
      fresh.add(endpoint(i));
    }
    return fresh;
  }

  /** The carrier's planes as they are at this end. */
  public List<LocalPlane> planesOf(int carrier) {
    return carriers.get(carrier).planes().stream().map(planes::here).toList();
  }

  /** Where the carrier's planes are at this end. */
  public List<ControlMessage.PlaneAddress> localAddresses(int carrier) {
    return planesOf(carrier).stream()
        .map(plane -> new ControlMessage.PlaneAddress(plane.gid(), plane.mtu()))
        .toList();
  }

  /**
   * Connects what {@link #renew} made.
   *
   * @param up where the other end's are, and what it made
   * @return the plane's sub-flows of this epoch
   * @throws HeddleException where the device refuses, or the other end made something else
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
    planes.moveThere(over, up.addresses());
    List<SubFlow> fresh = new ArrayList<>();
    for (int i = 0; i < ends.size(); i++) {
      int index = carrier + i * carriers.size();
      connectOne(index, up.epoch(), ends.get(i));
      fresh.add(new SubFlow(index, carrier, up.epoch(), pairs.get(index)));
    }
    return fresh;
  }

  /** One sub-flow per carrier in order of keys, then the second one of each, and so on. */
  public SubFlow[] subFlows() {
    SubFlow[] flows = new SubFlow[pairs.size()];
    for (int i = 0; i < flows.length; i++) {
      flows[i] = new SubFlow(i, i % carriers.size(), 0, pairs.get(i));
    }
    return flows;
  }

  /** Adds what the devices have counted of each to the counters of its planes. */
  public void countResent() {
    for (int i = 0; i < pairs.size(); i++) {
      if (carriers.get(i % carriers.size()).isOnePlane()) {
        planeWeights.countResent(i % planes.count(), pairs.get(i));
      } else {
        links.report(i, pairs.get(i).queuePair(), planeWeights);
      }
    }
  }

  /** The carrier of this queue pair; −1 where it isn't this connection's. */
  public int carrierOf(int queuePairNumber) {
    for (int i = 0; i < pairs.size(); i++) {
      if (pairs.get(i).queuePair().number() == queuePairNumber) {
        return i % carriers.size();
      }
    }
    return -1;
  }

  /** The host knows that this link of queue pairs over several planes carries nothing now. */
  public void leaveLink(int link) {
    pairs.forEach(pair -> pair.queuePair().linkLost(link));
  }

  /** Moves the carrier's queue pairs to ERROR: no later packet has any effect. */
  public void stop(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().toError();
    }
  }

  /** Takes the carrier's queue pairs back to RESET. */
  public void reset(int carrier) {
    for (int i = carrier; i < pairs.size(); i += carriers.size()) {
      pairs.get(i).queuePair().reset();
    }
  }

  /** Carrier and addresses, which all connections to the peer have alike, for a log line. */
  public String addressesOf(int carrier) {
    Carrier asked = carriers.get(carrier);
    return "plane %s (%s to %s)"
        .formatted(keyOf(asked), planes.here(asked.first()).gid(), planes.there(asked.first()));
  }

  /** Carrier, addresses and queue pairs, for a log line. */
  public String describe(int carrier) {
    return pairs.get(carrier).toString();
  }

  /** With the completion queue. Not while another thread drives the communicator. */
  @Override
  public synchronized void close() {
    pairs.forEach(PlaneQueuePair::close);
    cq.close();
  }
}
