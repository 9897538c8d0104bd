package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.cm.SidrRequests.Arrival;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.UnicastCounters;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair 1 of all addresses behind the bridge, in both fabrics. It forwards requests for the
 * number of a service's queue pair, with the bridge's own request ids, and the replies, with the
 * client's request ids. No other message for queue pair 1 crosses the bridge. Used by the data
 * thread only.
 */
final class QueuePairOne {
  /** Maximum number of stored requests, for the clients of each fabric. */
  static final int MOST_REQUESTS = 4096;

  private static final int FABRICS = 2;

  private final int trafficClass;
  private final long[] counters;
  private final SidrRequests[] requests = new SidrRequests[FABRICS];
  private final ManagementSender[] own = new ManagementSender[FABRICS];

  /**
   * @param fabrics ports in fabric a and b
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param ids source of the bridge's own request ids
   */
  QueuePairOne(
      Arena arena,
      FabricPort[] fabrics,
      UnicastSettings settings,
      long[] counters,
      RandomGenerator ids) {
    trafficClass = settings.trafficClass();
    this.counters = counters.clone();
    for (int side = 0; side < FABRICS; side++) {
      requests[side] = new SidrRequests(MOST_REQUESTS, ids);
      own[side] = new ManagementSender(arena, fabrics[side]);
    }
  }

  /**
   * Handles a packet for queue pair 1.
   *
   * @param side number of the fabric that the packet came from: 0 for fabric a, 1 for fabric b
   * @param packet address of the packet, whose management datagram is rewritten for the other
   *     fabric's host
   * @param near source and destination of the packet as received
   * @param far source and destination of the packet as forwarded
   * @return the reason to drop the packet; null if the caller must forward it, with another CRC
   */
  @Nullable DropReason take(
      int side, long packet, int lengthBytes, HostPair near, HostPair far, long nowNs) {
    if (DatagramFormat.queueKey(packet) != ManagementDatagram.QUEUE_KEY) {
      return DropReason.WRONG_QUEUE_KEY;
    }
    if (PacketFormat.opcode(packet) != DatagramFormat.SEND_ONLY) {
      return DropReason.MALFORMED_MAD;
    }
    long mad = packet + DatagramFormat.HEADER_BYTES;
    int madBytes = DatagramFormat.payloadBytes(packet, lengthBytes);
    CmMessage message = ManagementDatagram.messageOf(mad, madBytes);
    return switch (message) {
      case SIDR_REQUEST -> request(side, mad, near, far, nowNs);
      case SIDR_REPLY -> reply(side, mad, far);
      case CONNECT_REQUEST -> {
        own[side].refuse(mad, near.destination(), near.source(), trafficClass, nowNs);
        yield DropReason.RELIABLE_CONNECTION;
      }
      case CONNECT_REJECT, OTHER, FOREIGN -> DropReason.OTHER_MAD;
      case MALFORMED -> DropReason.MALFORMED_MAD;
    };
  }

  private @Nullable DropReason request(
      int side, long mad, HostPair near, HostPair far, long nowNs) {
    Gid client = near.source();
    long service = SidrRequest.serviceId(mad);
    if (CmaHeader.isService(service)) {
      long header = SidrRequest.privateData(mad);
      if (!CmaHeader.isValid(header)) {
        return DropReason.MALFORMED_MAD;
      }
      CmaHeader.setAddresses(header, far.source(), far.destination());
    }
    SidrRequests table = requests[side];
    int clientId = SidrRequest.requestId(mad);
    long transaction = ManagementDatagram.transaction(mad);
    Arrival arrival =
        table.arrived(client, clientId, near.destination(), transaction, service, nowNs);
    UnicastCounters.requested(counters[side], arrival == Arrival.REPEAT);
    Request request = Objects.requireNonNull(table.find(client, clientId));
    SidrRequest.setRequestId(mad, request.ownId());
    count(side);
    return null;
  }

  private @Nullable DropReason reply(int side, long mad, HostPair far) {
    int clients = 1 - side;
    Request request = requests[clients].findOpen(SidrReply.requestId(mad));
    if (request == null) {
      return DropReason.UNKNOWN_REPLY;
    }
    /* The forwarded reply must come from the address that the client sent its request to. */
    if (!request.server().equals(far.source()) || !request.client().equals(far.destination())) {
      return DropReason.FOREIGN_REPLY;
    }
    requests[clients].replied(request);
    UnicastCounters.replied(counters[clients]);
    SidrReply.setRequestId(mad, request.clientId());
    count(clients);
    return null;
  }

  private void count(int side) {
    UnicastCounters.requests(counters[side], requests[side].open(), requests[side].evicted());
  }

  /**
   * Ends the requests of a fabric's clients that got no reply in time, and reports the failure to
   * the clients.
   */
  void expire(int side, long nowNs) {
    SidrRequests table = requests[side];
    if (table.size() > 0) {
      table.expire(
          nowNs,
          request -> {
            UnicastCounters.timedOut(counters[side]);
            own[side].fail(request, trafficClass, nowNs);
          });
      count(side);
    }
  }
}
