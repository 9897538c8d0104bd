package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.fabric.NumberedPort;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.Way;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.group.RateLimit;
import io.heddle.bridge.group.StormGuard;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Takes datagrams for one host between a fabric on the wire and one of real queue pairs. Hosts of
 * the latter know the wire's hosts by addresses and queue pairs of the bridge. On the wire theirs
 * keep their numbers. Each packet that isn't forwarded is counted under its reason. The data
 * thread's.
 */
public final class MappedForwarder implements HostForwarder {
  /** Of pairs of queue pairs that talk. */
  static final int MOST_CONVERSATIONS = 262_144;

  private final FabricPort[] fabrics;
  private final NumberedPort verbs;
  private final int wireSide;
  private final int verbsSide;
  private final int trafficClass;
  private final NumberMapping mapping;
  private final int[] queuePairs;
  private final long[] counters;
  private final Limiter limiter;
  private final NumberService service;
  private final Conversations conversations = new Conversations(MOST_CONVERSATIONS);
  /* By the side that packets come from: what those of two hosts leave by, whatever their numbers. */
  private final PairTable[] flows = {
    new PairTable(UnicastForwarder.MOST_PAIRS), new PairTable(UnicastForwarder.MOST_PAIRS)
  };
  private final NumberMap numbers;
  private final MappedQuestions questions;
  private StandIns standIns = StandIns.NONE;

  /**
   * @param fabrics a and b, one of them of real queue pairs
   * @param settings with a mapping
   * @param counters of what comes from a and b, in the status file
   * @param limiter that packets leave through
   * @param service of the fabric of real queue pairs; this closes it
   * @param ids where the bridge's own request ids come from
   */
  public MappedForwarder(
      Arena arena,
      List<? extends FabricPort> fabrics,
      UnicastSettings settings,
      NumberMapping mapping,
      long[] counters,
      Limiter limiter,
      NumberService service,
      RandomGenerator ids) {
    this.fabrics = fabrics.toArray(FabricPort[]::new);
    verbsSide = this.fabrics[0] instanceof NumberedPort ? 0 : 1;
    wireSide = 1 - verbsSide;
    verbs = (NumberedPort) this.fabrics[verbsSide];
    this.mapping = mapping;
    this.counters = counters.clone();
    this.limiter = limiter;
    this.service = service;
    trafficClass = settings.trafficClass();
    queuePairs = verbs.numbers();
    numbers = new NumberMap(queuePairs.length, conversations);
    questions =
        new MappedQuestions(
            arena,
            this.fabrics[wireSide],
            wireSide,
            trafficClass,
            counters,
            service,
            queuePairs,
            numbers,
            ids);
    follow(settings.standIns(), System.nanoTime());
  }

  /* Numbers lead where other addresses stood for hosts. Clients ask again. */
  private void follow(StandIns now, long nowNs) {
    if (now == standIns) {
      return;
    }
    boolean changed = !now.equals(standIns);
    standIns = now;
    questions.use(now);
    if (changed) {
      numbers.clear();
      for (PairTable each : flows) {
        each.clear();
      }
      count();
      service.serve(now.addressesIn(verbsSide), mapping.ports());
    }
  }

  private void count() {
    for (long each : counters) {
      UnicastCounters.pairs(
          each, conversations.size(), conversations.evicted(), conversations.aged());
    }
  }

  @Override
  public void forward(int side, int train, LoopRules from, LoopRules to, StandIns now) {
    long nowNs = System.nanoTime();
    follow(now, nowNs);
    TrainBatch batch = fabrics[side].batch();
    int packets = batch.packets(train);
    GroupCounters.arrived(counters[side], packets);
    Gid source = standIns.addressOf(side, batch.sourceHigh(train), batch.sourceLow(train));
    Gid destination =
        standIns.hostOf(side, batch.destinationHigh(train), batch.destinationLow(train));
    DropReason against = from.against(batch.sourceHigh(train), batch.sourceLow(train));
    if (against == null) {
      against = againstEnds(source, destination, to);
    }
    if (against != null || source == null || destination == null) {
      DropReason reason = against == null ? DropReason.NO_STAND_IN : against;
      GroupCounters.dropped(counters[side], reason, packets);
      return;
    }
    long packet = batch.address(train);
    long end = packet + batch.lengthBytes(train);
    int stride = batch.strideBytes(train);
    while (packet < end) {
      int length = (int) Math.min(stride, end - packet);
      DropReason reason = forwardPacket(side, train, packet, length, source, destination, nowNs);
      if (reason != null) {
        GroupCounters.dropped(counters[side], reason, 1);
      }
      packet += stride;
    }
  }

  private static @Nullable DropReason againstEnds(
      @Nullable Gid source, @Nullable Gid destination, LoopRules to) {
    if (destination == null || to.against(destination.high(), destination.low()) != null) {
      return DropReason.FOREIGN_DESTINATION;
    }
    return source == null || source.isIpv4Mapped() != destination.isIpv4Mapped()
        ? DropReason.NO_STAND_IN
        : null;
  }

  private @Nullable DropReason forwardPacket(
      int side, int train, long packet, int length, Gid source, Gid destination, long nowNs) {
    if (!DatagramFormat.isDatagram(packet, length)) {
      return DropReason.MALFORMED;
    }
    int number = PacketFormat.queuePair(packet);
    if (number == 0 || number == DatagramFormat.MULTICAST_QUEUE_PAIR) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    FabricPort from = fabrics[side];
    int covered = length - PacketFormat.ICRC_BYTES;
    if (!from.isRight(train, packet, covered, from.checksum(packet, covered))) {
      return DropReason.BAD_CHECKSUM;
    }
    if (number == ManagementDatagram.QUEUE_PAIR) {
      return manage(side, train, packet, length, new Hosts(source, destination), nowNs);
    }
    if (length > fabrics[1 - side].mostBytes(destination.isIpv4Mapped())) {
      return DropReason.TOO_LARGE;
    }
    TrainBatch batch = from.batch();
    int place =
        side == wireSide
            ? fromWire(batch, train, packet, destination, nowNs)
            : fromVerbs(batch, train, packet, destination, nowNs);
    if (place == Conversations.NONE) {
      return DropReason.NO_NUMBER;
    }
    LimitedFlow flow = flowOf(side, place, source, destination, nowNs);
    if (flow == null) {
      return DropReason.NOT_SENT;
    }
    conversations.touch(place, nowNs);
    rewrite(side, place, packet);
    int crc = from.checksum(packet, covered);
    long digest = StormGuard.digest(crc, packet, covered);
    limiter.offer(flow, packet, length, crc, digest, batch.arrivedNs(train), nowNs);
    return null;
  }

  /* Only over the wire: in the other fabric queue pair 1 isn't the bridge's. */
  private @Nullable DropReason manage(
      int side, int train, long packet, int length, Hosts far, long nowNs) {
    if (side != wireSide) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
    TrainBatch batch = fabrics[side].batch();
    Hosts near =
        new Hosts(
            new Gid(batch.sourceHigh(train), batch.sourceLow(train)),
            new Gid(batch.destinationHigh(train), batch.destinationLow(train)));
    DropReason reason = questions.take(packet, length, near, far, nowNs);
    if (reason == null) {
      GroupCounters.forwarded(counters[side], length, nowNs - batch.arrivedNs(train));
    }
    return reason;
  }

  private int fromWire(TrainBatch batch, int train, long packet, Gid other, long nowNs) {
    int wire = DatagramFormat.sourceQueuePair(packet);
    int number = PacketFormat.queuePair(packet);
    int place =
        conversations.findFromWire(
            batch.sourceHigh(train),
            batch.sourceLow(train),
            other.high(),
            other.low(),
            wire,
            number);
    if (place != Conversations.NONE) {
      return place;
    }
    Gid host = new Gid(batch.sourceHigh(train), batch.sourceLow(train));
    int key = CmaHeader.QUEUE_KEY;
    place = numbers.begin(new Hosts(host, other), wire, number, key, nowNs);
    count();
    return place;
  }

  private int fromVerbs(TrainBatch batch, int train, long packet, Gid wire, long nowNs) {
    int queuePair = indexOf(PacketFormat.queuePair(packet));
    int number = DatagramFormat.sourceQueuePair(packet);
    long high = batch.sourceHigh(train);
    long low = batch.sourceLow(train);
    int place = conversations.findFromVerbs(wire.high(), wire.low(), high, low, queuePair, number);
    if (place != Conversations.NONE) {
      return place;
    }
    place = numbers.join(new Hosts(wire, new Gid(high, low)), queuePair, number, nowNs);
    count();
    return place;
  }

  private int indexOf(int number) {
    int index = queuePairs.length - 1;
    while (index > 0 && queuePairs[index] != number) {
      index--;
    }
    return index;
  }

  /* Null while there is no way yet to a host of real queue pairs. */
  private @Nullable LimitedFlow flowOf(
      int side, int place, Gid source, Gid destination, long nowNs) {
    boolean toWire = side == verbsSide;
    LimitedFlow known = toWire ? conversations.toWire(place) : conversations.toVerbs(place);
    if (known != null) {
      return known;
    }
    LimitedFlow flow = hostsFlow(side, source, destination, nowNs);
    if (flow != null) {
      conversations.leaveBy(place, flow, toWire);
    }
    return flow;
  }

  private @Nullable LimitedFlow hostsFlow(int side, Gid source, Gid destination, long nowNs) {
    long high = source.high();
    long low = source.low();
    PairTable table = flows[side];
    LimitedFlow known = table.find(high, low, destination.high(), destination.low(), nowNs);
    if (known != null) {
      return known;
    }
    Way way =
        side == verbsSide
            ? fabrics[wireSide].wayBetween(source, destination, trafficClass)
            : verbs.readyWay(source, destination);
    if (way == null) {
      service.prepare(source, destination);
      return null;
    }
    LimitedFlow flow = new LimitedFlow(1 - side, way, RateLimit.NONE, counters[side], nowNs);
    table.add(high, low, destination.high(), destination.low(), flow, nowNs);
    return flow;
  }

  private void rewrite(int side, int place, long packet) {
    if (side == verbsSide) {
      DatagramFormat.setQueuePair(packet, conversations.wireNumber(place));
      DatagramFormat.setQueueKey(packet, conversations.queueKey(place));
      return;
    }
    int number = queuePairs[conversations.queuePair(place)];
    boolean immediate = PacketFormat.opcode(packet) == DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
    if (mapping.fixesImmediate()
        && immediate
        && DatagramFormat.immediate(packet) == DatagramFormat.sourceQueuePair(packet)) {
      DatagramFormat.setImmediate(packet, number);
    }
    DatagramFormat.setSourceQueuePair(packet, number);
  }

  @Override
  public void expire(int side, long nowNs) {
    if (side != wireSide) {
      return;
    }
    questions.hear(nowNs);
    questions.expire(nowNs);
    int before = conversations.size();
    conversations.expire(nowNs);
    for (PairTable each : flows) {
      each.expire(nowNs);
    }
    if (conversations.size() != before) {
      count();
    }
  }

  @Override
  public String look() {
    return service.look();
  }

  @Override
  public void close() {
    service.close();
  }
}
