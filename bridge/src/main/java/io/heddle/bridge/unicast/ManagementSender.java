package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ConnectReject;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Sender of the bridge's own management datagrams, whose source address is that of another host.
 * Used rarely, so it allocates. A lost message isn't repeated until the client repeats its request.
 * Used by the data thread only.
 */
final class ManagementSender {
  private static final int COVERED_BYTES = DatagramFormat.HEADER_BYTES + ManagementDatagram.BYTES;
  private static final int PACKET_BYTES = COVERED_BYTES + PacketFormat.ICRC_BYTES;

  private final FabricPort fabric;
  private final long packet;
  private final ByteBuffer view;
  /* Address of counters for the fabric's sender. Nothing reads them: the callers count messages. */
  private final long uncounted;
  private final CRC32 crc = new CRC32();

  /**
   * @param fabric port in the fabric of the receiving hosts
   */
  ManagementSender(Arena arena, FabricPort fabric) {
    this.fabric = fabric;
    packet = Memory.allocate(arena, PACKET_BYTES, 8);
    view = Memory.ALL.asSlice(packet, COVERED_BYTES).asByteBuffer();
    uncounted = Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8);
  }

  /** Reports to a client that the requested host didn't answer. */
  void fail(Request request, int trafficClass, long nowNs) {
    int status = SidrReply.STATUS_NO_QUEUE_PAIR;
    answer(request, new SidrService.Answer(0, status, 0, 0, List.of()), trafficClass, nowNs);
  }

  /** Sends a client the answer of a host. */
  void answer(Request request, SidrService.Answer answer, int trafficClass, long nowNs) {
    long mad = packet + DatagramFormat.HEADER_BYTES;
    SidrReply.write(
        mad,
        request.transaction(),
        request.clientId(),
        answer.status(),
        answer.number(),
        answer.key(),
        request.serviceId());
    PrivateBytes.write(SidrReply.privateData(mad), answer.privateData(), PrivateBytes.IN_REPLY);
    send(request.server(), request.client(), trafficClass, nowNs);
  }

  /**
   * Sends a request to a host in the name of a client.
   *
   * @param ownId the bridge's request id
   * @param request the client's request
   * @param hosts source and destination address of the datagram
   */
  void sendRequest(
      int ownId,
      SidrService.IncomingSidrRequest request,
      HostPair hosts,
      int trafficClass,
      long nowNs) {
    long mad = packet + DatagramFormat.HEADER_BYTES;
    SidrRequest.write(mad, ownId, ownId, CmaHeader.datagramService(request.port()));
    long header = SidrRequest.privateData(mad);
    CmaHeader.write(header, request.clientPort(), hosts.source(), hosts.destination());
    PrivateBytes.write(header + CmaHeader.BYTES, request.privateData(), PrivateBytes.IN_REQUEST);
    send(hosts.source(), hosts.destination(), trafficClass, nowNs);
  }

  /**
   * Rejects a client's request for a reliable connection.
   *
   * @param request address of the client's REQ
   */
  void refuse(long request, Gid server, Gid client, int trafficClass, long nowNs) {
    ConnectReject.write(
        packet + DatagramFormat.HEADER_BYTES,
        ManagementDatagram.transaction(request),
        ConnectReject.localIdOfRequest(request),
        ConnectReject.REASON_TRANSPORT_SERVICE);
    send(server, client, trafficClass, nowNs);
  }

  private void send(Gid source, Gid destination, int trafficClass, long nowNs) {
    DatagramFormat.write(
        packet,
        0,
        ManagementDatagram.QUEUE_PAIR,
        0,
        ManagementDatagram.QUEUE_KEY,
        ManagementDatagram.QUEUE_PAIR);
    crc.reset();
    crc.update(view.clear());
    SendPath sendPath = fabric.sendPathBetween(source, destination, trafficClass);
    fabric.packets().send(sendPath, packet, PACKET_BYTES, (int) crc.getValue(), uncounted, nowNs);
    fabric.packets().flush();
  }
}
