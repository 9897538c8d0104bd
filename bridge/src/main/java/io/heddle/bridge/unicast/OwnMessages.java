package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ConnectReject;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests.Request;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.fabric.Way;
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
 * What the bridge itself says to a fabric's hosts, in the place of the host that was asked. Rare:
 * it allocates. Lost as any datagram, and said again when the client asks again. The data thread's.
 */
final class OwnMessages {
  private static final int COVERED_BYTES = DatagramFormat.HEADER_BYTES + ManagementDatagram.BYTES;
  private static final int PACKET_BYTES = COVERED_BYTES + PacketFormat.ICRC_BYTES;

  private final FabricPort fabric;
  private final long packet;
  private final ByteBuffer view;
  /* Where the sender counts; what it says is counted where it's decided. */
  private final long uncounted;
  private final CRC32 crc = new CRC32();

  /**
   * @param fabric that the hosts are in
   */
  OwnMessages(Arena arena, FabricPort fabric) {
    this.fabric = fabric;
    packet = Memory.allocate(arena, PACKET_BYTES, 8);
    view = Memory.ALL.asSlice(packet, COVERED_BYTES).asByteBuffer();
    uncounted = Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8);
  }

  /** Tells a client that the host it asked didn't answer. */
  void fail(Request request, int trafficClass, long nowNs) {
    int status = SidrReply.STATUS_NO_QUEUE_PAIR;
    answer(request, new NumberService.Answer(0, status, 0, 0, List.of()), trafficClass, nowNs);
  }

  /** Tells a client what another has answered. */
  void answer(Request request, NumberService.Answer answer, int trafficClass, long nowNs) {
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
   * Asks a host in the place of another.
   *
   * @param ownId request id
   * @param asked what the other asks
   * @param hosts from whose address, and which
   */
  void ask(int ownId, NumberService.Question asked, Hosts hosts, int trafficClass, long nowNs) {
    long mad = packet + DatagramFormat.HEADER_BYTES;
    SidrRequest.write(mad, ownId, ownId, CmaHeader.datagramService(asked.port()));
    long header = SidrRequest.privateData(mad);
    CmaHeader.write(header, asked.clientPort(), hosts.source(), hosts.destination());
    PrivateBytes.write(header + CmaHeader.BYTES, asked.privateData(), PrivateBytes.IN_REQUEST);
    send(hosts.source(), hosts.destination(), trafficClass, nowNs);
  }

  /**
   * Refuses a reliable connection.
   *
   * @param request its REQ
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
    Way way = fabric.wayBetween(source, destination, trafficClass);
    fabric.send(way, packet, PACKET_BYTES, (int) crc.getValue(), uncounted, nowNs);
    fabric.flush();
  }
}
