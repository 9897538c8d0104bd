package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.status.DropReason;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Exchange of requests for queue pair numbers (SIDR) between two fabrics, for a bridge that maps
 * these numbers. In a fabric that the bridge reaches by a UDP socket, it handles the packets of
 * queue pair 1 itself. In a fabric that it reaches by a libibverbs device, it sends and receives
 * requests by a {@link SidrService}. Requests are rare, so this allocates. Used by the data thread
 * only.
 */
final class MappedRequests {
  private final int trafficClass;
  private final MappedEnd[] ends;
  /* For each fabric, the sender of the bridge's own messages; null for a fabric with a device. */
  private final @Nullable ManagementSender[] own = new ManagementSender[2];
  private final SidrClients[] clients = new SidrClients[2];

  /**
   * @param ends ports in fabric a and b, at least one of which has a device
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param ids source of the bridge's own request ids
   */
  MappedRequests(
      Arena arena,
      MappedEnd[] ends,
      int trafficClass,
      long[] counters,
      QueuePairMap numbers,
      RandomGenerator ids) {
    this.trafficClass = trafficClass;
    this.ends = ends.clone();
    for (int side = 0; side < 2; side++) {
      own[side] = ends[side].isDevice() ? null : new ManagementSender(arena, ends[side].fabric());
    }
    for (int side = 0; side < 2; side++) {
      clients[side] = openClients(side, counters[side], numbers, ids);
    }
  }

  private SidrClients openClients(
      int side, long counters, QueuePairMap numbers, RandomGenerator ids) {
    SidrService near = ends[side].service();
    SidrService far = ends[1 - side].service();
    ManagementSender nearOwn = own[side];
    ManagementSender farOwn = own[1 - side];
    if (near == null) {
      if (far == null || nearOwn == null) {
        throw new IllegalArgumentException("numbers are mapped, and no fabric has a device");
      }
      return new WireClients(trafficClass, counters, far, nearOwn, ids);
    }
    return new VerbsClients(
        side,
        counters,
        ends[side],
        near,
        (id, request, hosts, nowNs) -> {
          if (farOwn != null) {
            farOwn.sendRequest(id, request, hosts, trafficClass, nowNs);
          } else if (far != null) {
            Gid source = hosts.source();
            far.request(id, source, hosts.destination(), request.port(), request.privateData());
          }
          return farOwn != null;
        },
        numbers,
        ids);
  }

  void use(ProxyAddresses now) {
    for (SidrClients each : clients) {
      if (each instanceof VerbsClients verbs) {
        verbs.use(now);
      }
    }
  }

  /**
   * Handles a packet for queue pair 1, from a fabric without a device.
   *
   * @param side number of the fabric that the packet came from: 0 for fabric a, 1 for fabric b
   * @param near source and destination of the packet as received
   * @param far source and destination of the packet as the other fabric addresses them
   * @return the reason to drop the packet; null if it was handled
   */
  @Nullable DropReason take(
      int side, long packet, int lengthBytes, HostPair near, HostPair far, long nowNs) {
    if (!(clients[side] instanceof WireClients wire)) {
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
      case SIDR_REQUEST -> wire.request(mad, near, far, nowNs);
      case SIDR_REPLY -> reply(1 - side, mad, near, nowNs);
      case CONNECT_REQUEST -> {
        wire.refuse(mad, near, nowNs);
        yield DropReason.RELIABLE_CONNECTION;
      }
      case CONNECT_REJECT, OTHER, FOREIGN -> DropReason.OTHER_MAD;
      case MALFORMED -> DropReason.MALFORMED_MAD;
    };
  }

  /* Handles a reply from a host in a fabric without a device, for a client in the other fabric. */
  private @Nullable DropReason reply(int side, long mad, HostPair near, long nowNs) {
    int id = SidrReply.requestId(mad);
    HostPair hosts = clients[side] instanceof VerbsClients verbs ? verbs.hostsOf(id) : null;
    if (hosts == null) {
      return DropReason.UNKNOWN_REPLY;
    }
    if (!hosts.destination().equals(near.source()) || !hosts.source().equals(near.destination())) {
      return DropReason.FOREIGN_REPLY;
    }
    clients[side].answered(
        new SidrService.Answer(
            id,
            SidrReply.status(mad),
            SidrReply.queuePair(mad),
            SidrReply.queueKey(mad),
            PrivateBytes.read(SidrReply.privateData(mad), PrivateBytes.IN_REPLY)),
        nowNs);
    return null;
  }

  /** Handles the messages from hosts in fabrics with a device. */
  void receive(long nowNs) {
    for (int side = 0; side < 2; side++) {
      SidrService service = ends[side].service();
      SidrService.Message heard = service == null ? null : service.take();
      while (service != null && heard != null) {
        switch (heard) {
          case SidrService.Answer answer -> clients[1 - side].answered(answer, nowNs);
          case SidrService.IncomingSidrRequest request -> requested(side, request, nowNs);
        }
        heard = service.take();
      }
    }
  }

  private void requested(int side, SidrService.IncomingSidrRequest request, long nowNs) {
    if (clients[side] instanceof VerbsClients verbs) {
      verbs.request(request, nowNs);
    }
  }

  /**
   * Sends new requests, repeats unanswered ones, and ends the requests whose deadline has passed.
   */
  void expire(long nowNs) {
    for (SidrClients each : clients) {
      each.expire(nowNs);
    }
  }
}
