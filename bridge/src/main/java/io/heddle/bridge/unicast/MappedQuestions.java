package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Who asks for the number of a queue pair where numbers are mapped. The bridge owns queue pair 1 in
 * the wire fabric; in the other one it asks, and is asked, by a {@link NumberService}. Rare: it
 * allocates. The data thread's.
 */
final class MappedQuestions {
  private static final long AGAIN_NS = 500_000_000;

  private final int wire;
  private final int trafficClass;
  private final long[] counters;
  private final NumberService service;
  private final int[] queuePairs;
  private final NumberMap numbers;
  private final SidrRequests requests;
  private final OwnMessages own;
  private final RandomGenerator ids;
  private final Map<Integer, Asked> asked = new LinkedHashMap<>();
  private StandIns standIns = StandIns.NONE;

  /** A question of the other fabric, that a host on the wire is to answer. */
  private static final class Asked {
    private final int id;
    private final NumberService.Question question;
    private final Hosts hosts;
    private final long deadlineNs;
    private long againNs;

    private Asked(int id, NumberService.Question question, Hosts hosts, long nowNs) {
      this.id = id;
      this.question = question;
      this.hosts = hosts;
      deadlineNs = nowNs + SidrRequests.WAIT_NS;
      againNs = nowNs;
    }
  }

  /**
   * @param wire which fabric is on the wire, 0 for a
   * @param counters of what comes from a and b
   * @param queuePairs the numbers of the bridge's own
   * @param ids where the bridge's own request ids come from
   */
  MappedQuestions(
      Arena arena,
      FabricPort fabric,
      int wire,
      int trafficClass,
      long[] counters,
      NumberService service,
      int[] queuePairs,
      NumberMap numbers,
      RandomGenerator ids) {
    this.wire = wire;
    this.trafficClass = trafficClass;
    this.counters = counters.clone();
    this.service = service;
    this.queuePairs = queuePairs.clone();
    this.numbers = numbers;
    this.ids = ids;
    requests = new SidrRequests(QueuePairOne.MOST_REQUESTS, ids);
    own = new OwnMessages(arena, fabric);
  }

  void use(StandIns now) {
    standIns = now;
  }

  /**
   * A packet for queue pair 1 came over the wire.
   *
   * @param near its ends as they came
   * @param far its ends as the other fabric has them
   * @return why it has no effect; null where it has one
   */
  @Nullable DropReason take(long packet, int lengthBytes, Hosts near, Hosts far, long nowNs) {
    if (DatagramFormat.queueKey(packet) != ManagementDatagram.QUEUE_KEY) {
      return DropReason.WRONG_QUEUE_KEY;
    }
    if (PacketFormat.opcode(packet) != DatagramFormat.SEND_ONLY) {
      return DropReason.MALFORMED_MAD;
    }
    long mad = packet + DatagramFormat.HEADER_BYTES;
    CmMessage message =
        ManagementDatagram.messageOf(mad, DatagramFormat.payloadBytes(packet, lengthBytes));
    return switch (message) {
      case SIDR_REQUEST -> request(mad, near, far, nowNs);
      case SIDR_REPLY -> reply(mad, near, nowNs);
      case CONNECT_REQUEST -> {
        own.refuse(mad, near.destination(), near.source(), trafficClass, nowNs);
        yield DropReason.RELIABLE_CONNECTION;
      }
      case CONNECT_REJECT, OTHER, FOREIGN -> DropReason.OTHER_MAD;
      case MALFORMED -> DropReason.MALFORMED_MAD;
    };
  }

  private @Nullable DropReason request(long mad, Hosts near, Hosts far, long nowNs) {
    long asks = SidrRequest.serviceId(mad);
    long header = SidrRequest.privateData(mad);
    if (!CmaHeader.isDatagramService(asks) || !CmaHeader.isRight(header)) {
      return DropReason.MALFORMED_MAD;
    }
    Gid client = near.source();
    int clientId = SidrRequest.requestId(mad);
    Request before = requests.find(client, clientId);
    boolean waits = before != null && requests.findOpen(before.ownId()) == before;
    long transaction = ManagementDatagram.transaction(mad);
    SidrRequests.Arrival arrival =
        requests.arrived(client, clientId, near.destination(), transaction, asks, nowNs);
    boolean repeat = arrival == SidrRequests.Arrival.REPEAT;
    UnicastCounters.requested(counters[wire], repeat);
    if (!repeat || !waits) {
      Request request = Objects.requireNonNull(requests.find(client, clientId));
      service.ask(
          request.ownId(),
          far.source(),
          far.destination(),
          CmaHeader.servicePort(asks),
          PrivateBytes.read(header + CmaHeader.BYTES, PrivateBytes.IN_REQUEST));
    }
    count();
    return null;
  }

  private void count() {
    UnicastCounters.requests(counters[wire], requests.open(), requests.evicted());
    UnicastCounters.requests(counters[1 - wire], asked.size(), 0);
  }

  private @Nullable DropReason reply(long mad, Hosts near, long nowNs) {
    Asked question = asked.get(SidrReply.requestId(mad));
    if (question == null) {
      return DropReason.UNKNOWN_REPLY;
    }
    Hosts hosts = question.hosts;
    if (!hosts.destination().equals(near.source()) || !hosts.source().equals(near.destination())) {
      return DropReason.FOREIGN_REPLY;
    }
    asked.remove(question.id);
    UnicastCounters.replied(counters[1 - wire]);
    int index =
        SidrReply.status(mad) == SidrReply.STATUS_SUCCESS
            ? numbers.serve(near.source(), SidrReply.queuePair(mad), SidrReply.queueKey(mad), nowNs)
            : NumberMap.NONE;
    if (index == NumberMap.NONE) {
      service.refuse(question.question.id());
    } else {
      service.accept(
          question.question.id(),
          queuePairs[index],
          PrivateBytes.read(SidrReply.privateData(mad), PrivateBytes.IN_REPLY));
    }
    count();
    return null;
  }

  /** Takes what the other fabric's hosts have said. */
  void hear(long nowNs) {
    NumberService.Heard heard = service.take();
    while (heard != null) {
      switch (heard) {
        case NumberService.Answer answer -> answered(answer, nowNs);
        case NumberService.Question question -> asked(question, nowNs);
      }
      count();
      heard = service.take();
    }
  }

  private void answered(NumberService.Answer answer, long nowNs) {
    Request request = requests.findOpen(answer.token());
    if (request != null) {
      requests.replied(request);
      UnicastCounters.replied(counters[wire]);
      own.answer(request, answer, trafficClass, nowNs);
    }
  }

  private void asked(NumberService.Question question, long nowNs) {
    long arrivals = counters[1 - wire];
    Gid address = question.address();
    Gid client = question.client();
    Gid host = standIns.hostOf(1 - wire, address.high(), address.low());
    Gid from = standIns.addressOf(1 - wire, client.high(), client.low());
    UnicastCounters.requested(arrivals, false);
    if (host == null
        || from == null
        || host.isIpv4Mapped() != from.isIpv4Mapped()
        || asked.size() >= QueuePairOne.MOST_REQUESTS) {
      GroupCounters.arrived(arrivals, 1);
      GroupCounters.dropped(arrivals, DropReason.NO_STAND_IN, 1);
      service.refuse(question.id());
      return;
    }
    int id = ids.nextInt();
    while (asked.containsKey(id)) {
      id = ids.nextInt();
    }
    asked.put(id, new Asked(id, question, new Hosts(from, host), nowNs));
  }

  /** Asks again, and ends what has waited for long enough. */
  void expire(long nowNs) {
    if (requests.size() > 0) {
      requests.expire(
          nowNs,
          request -> {
            UnicastCounters.timedOut(counters[wire]);
            own.fail(request, trafficClass, nowNs);
          });
      count();
    }
    if (!asked.isEmpty()) {
      expireAsked(nowNs);
    }
  }

  private void expireAsked(long nowNs) {
    for (Iterator<Asked> all = asked.values().iterator(); all.hasNext(); ) {
      Asked each = all.next();
      if (nowNs - each.deadlineNs >= 0) {
        all.remove();
        UnicastCounters.timedOut(counters[1 - wire]);
        service.refuse(each.question.id());
        count();
      } else if (nowNs - each.againNs >= 0) {
        each.againNs = nowNs + AGAIN_NS;
        own.ask(each.id, each.question, each.hosts, trafficClass, nowNs);
      }
    }
  }
}
