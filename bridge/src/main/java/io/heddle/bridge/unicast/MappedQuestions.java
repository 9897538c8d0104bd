package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.status.DropReason;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Who asks for the number of a queue pair where numbers are mapped. In a fabric on the wire the
 * bridge owns queue pair 1; behind a device it asks, and is asked, by a {@link NumberService}.
 * Rare: it allocates. The data thread's.
 */
final class MappedQuestions {
  private final int trafficClass;
  private final MappedEnd[] ends;
  /* By fabric; what the bridge says itself on the wire alone. */
  private final @Nullable OwnMessages[] own = new OwnMessages[2];
  private final Askers[] askers = new Askers[2];

  /**
   * @param ends in a and b, one of them behind a device at least
   * @param counters of what comes from a and b
   * @param ids where the bridge's own request ids come from
   */
  MappedQuestions(
      Arena arena,
      MappedEnd[] ends,
      int trafficClass,
      long[] counters,
      NumberMap numbers,
      RandomGenerator ids) {
    this.trafficClass = trafficClass;
    this.ends = ends.clone();
    for (int side = 0; side < 2; side++) {
      own[side] = ends[side].isDevice() ? null : new OwnMessages(arena, ends[side].fabric());
    }
    for (int side = 0; side < 2; side++) {
      askers[side] = askers(side, counters[side], numbers, ids);
    }
  }

  private Askers askers(int side, long counters, NumberMap numbers, RandomGenerator ids) {
    NumberService near = ends[side].service();
    NumberService far = ends[1 - side].service();
    OwnMessages nearOwn = own[side];
    OwnMessages farOwn = own[1 - side];
    if (near == null) {
      if (far == null || nearOwn == null) {
        throw new IllegalArgumentException("numbers are mapped, and no fabric has a device");
      }
      return new WireAskers(trafficClass, counters, far, nearOwn, ids);
    }
    return new DeviceAskers(
        side,
        counters,
        ends[side],
        near,
        (id, question, hosts, nowNs) -> {
          if (farOwn != null) {
            farOwn.ask(id, question, hosts, trafficClass, nowNs);
          } else if (far != null) {
            Gid source = hosts.source();
            far.ask(id, source, hosts.destination(), question.port(), question.privateData());
          }
          return farOwn != null;
        },
        numbers,
        ids);
  }

  void use(StandIns now) {
    for (Askers each : askers) {
      each.use(now);
    }
  }

  /**
   * A packet for queue pair 1 came over the wire.
   *
   * @param side of the fabric on the wire
   * @param near its ends as they came
   * @param far its ends as the other fabric has them
   * @return why it has no effect; null where it has one
   */
  @Nullable DropReason take(
      int side, long packet, int lengthBytes, Hosts near, Hosts far, long nowNs) {
    if (!(askers[side] instanceof WireAskers clients)) {
      return DropReason.WRONG_QUEUE_PAIR;
    }
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
      case SIDR_REQUEST -> clients.request(mad, near, far, nowNs);
      case SIDR_REPLY -> reply(1 - side, mad, near, nowNs);
      case CONNECT_REQUEST -> {
        clients.refuse(mad, near, nowNs);
        yield DropReason.RELIABLE_CONNECTION;
      }
      case CONNECT_REJECT, OTHER, FOREIGN -> DropReason.OTHER_MAD;
      case MALFORMED -> DropReason.MALFORMED_MAD;
    };
  }

  /* Of a host on the wire to one of the other fabric. */
  private @Nullable DropReason reply(int side, long mad, Hosts near, long nowNs) {
    int id = SidrReply.requestId(mad);
    Hosts hosts = askers[side] instanceof DeviceAskers clients ? clients.hostsOf(id) : null;
    if (hosts == null) {
      return DropReason.UNKNOWN_REPLY;
    }
    if (!hosts.destination().equals(near.source()) || !hosts.source().equals(near.destination())) {
      return DropReason.FOREIGN_REPLY;
    }
    askers[side].answered(
        new NumberService.Answer(
            id,
            SidrReply.status(mad),
            SidrReply.queuePair(mad),
            SidrReply.queueKey(mad),
            PrivateBytes.read(SidrReply.privateData(mad), PrivateBytes.IN_REPLY)),
        nowNs);
    return null;
  }

  /** Takes what hosts behind devices have said. */
  void hear(long nowNs) {
    for (int side = 0; side < 2; side++) {
      NumberService service = ends[side].service();
      NumberService.Heard heard = service == null ? null : service.take();
      while (service != null && heard != null) {
        switch (heard) {
          case NumberService.Answer answer -> askers[1 - side].answered(answer, nowNs);
          case NumberService.Question question -> asked(side, question, nowNs);
        }
        heard = service.take();
      }
    }
  }

  private void asked(int side, NumberService.Question question, long nowNs) {
    if (askers[side] instanceof DeviceAskers clients) {
      clients.ask(question, nowNs);
    }
  }

  /** Asks again, and ends what has waited for long enough. */
  void expire(long nowNs) {
    for (Askers each : askers) {
      each.expire(nowNs);
    }
  }
}
