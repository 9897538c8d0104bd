package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.fabric.SystemClock;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.WireSpec;
import io.heddle.bridge.wire.WireFabric;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Host on a wire fabric, without an RDMA device. It resolves services by SIDR, answers requests for
 * its own service, and sends from one queue pair. The immediate data that it sends is the queue
 * pair's number.
 */
final class WireHost implements AutoCloseable {
  private static final int NUMBER = 0x4711;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int HEADERS = DatagramFormat.headerBytes(IMMEDIATE);
  private static final int PAYLOAD_BYTES = 64;
  private static final int REQUEST_ID = 0x77;
  private static final long REPEAT_NS = 300_000_000;
  private static final int MOST_SECONDS = 30;

  private final Gid own;
  private final WireFabric fabric;
  private final Arena arena = Arena.ofShared();
  private final long packet = Memory.allocate(arena, 512, 8);
  private final long counters = Memory.allocate(arena, 8192, 8);
  private int answered = -1;

  /** A received message. */
  record Received(Gid from, int number, int immediate, long word) {}

  WireHost(String interfaceName, Gid own) {
    this.own = own;
    WireSpec spec = new WireSpec("host", interfaceName, "", List.of(own), List.of(), 4, false);
    fabric = WireFabric.open(spec, false, new SystemClock(), counters);
  }

  private void send(Gid to, int coveredBytes) {
    CRC32 crc = new CRC32();
    crc.update(Memory.ALL.asSlice(packet, coveredBytes).asByteBuffer());
    fabric
        .packets()
        .send(
            fabric.sendPathBetween(own, to, 0),
            packet,
            coveredBytes + PacketFormat.ICRC_BYTES,
            (int) crc.getValue(),
            counters,
            System.nanoTime());
    fabric.packets().flush();
  }

  private void sendMad(Gid to) {
    DatagramFormat.write(
        packet,
        0,
        ManagementDatagram.QUEUE_PAIR,
        0,
        ManagementDatagram.QUEUE_KEY,
        ManagementDatagram.QUEUE_PAIR);
    send(to, DatagramFormat.HEADER_BYTES + ManagementDatagram.BYTES);
  }

  /** Returns the number of a service's queue pair. Repeats the request until the server answers. */
  int numberOf(Gid server, int port) {
    Deadline deadline = Deadline.ofSeconds(MOST_SECONDS);
    long again = System.nanoTime();
    while (answered < 0) {
      assertFalse(deadline.isOver(), "no answer");
      if (System.nanoTime() - again >= 0) {
        long mad = packet + DatagramFormat.HEADER_BYTES;
        SidrRequest.write(mad, REQUEST_ID, REQUEST_ID, CmaHeader.datagramService(port));
        CmaHeader.write(SidrRequest.privateData(mad), 9, own, server);
        sendMad(server);
        again += REPEAT_NS;
      }
      poll();
    }
    return answered;
  }

  void send(Gid to, int number, long word) {
    DatagramFormat.write(packet, IMMEDIATE, 0, number, 1, CmaHeader.QUEUE_KEY, NUMBER);
    DatagramFormat.setImmediate(packet, NUMBER);
    Memory.clear(packet + HEADERS, PAYLOAD_BYTES);
    Memory.setLong(packet + HEADERS, word);
    send(to, HEADERS + PAYLOAD_BYTES);
  }

  Received receive() {
    Deadline deadline = Deadline.ofSeconds(MOST_SECONDS);
    Received heard = poll();
    while (heard == null) {
      assertFalse(deadline.isOver(), "nothing came");
      heard = poll();
    }
    return heard;
  }

  /**
   * Returns a message to the host's queue pair; null if none has arrived. Answers requests for the
   * service.
   */
  @Nullable Received poll() {
    Received heard = null;
    int trains = fabric.packets().poll();
    TrainBatch batch = fabric.packets().batch();
    for (int train = 0; train < trains; train++) {
      long at = batch.address[train];
      Gid from = new Gid(batch.sourceHigh[train], batch.sourceLow[train]);
      if (PacketFormat.queuePair(at) == ManagementDatagram.QUEUE_PAIR) {
        read(at + DatagramFormat.HEADER_BYTES, from);
      } else if (PacketFormat.queuePair(at) == NUMBER) {
        int number = DatagramFormat.sourceQueuePair(at);
        heard =
            new Received(from, number, DatagramFormat.immediate(at), Memory.getLong(at + HEADERS));
      }
    }
    return heard;
  }

  private void read(long mad, Gid from) {
    CmMessage message = ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES);
    if (message == CmMessage.SIDR_REPLY && SidrReply.requestId(mad) == REQUEST_ID) {
      /* After a rejection, the caller repeats the request until the server listens. */
      answered = SidrReply.status(mad) == SidrReply.STATUS_SUCCESS ? SidrReply.queuePair(mad) : -1;
    } else if (message == CmMessage.SIDR_REQUEST) {
      long reply = packet + DatagramFormat.HEADER_BYTES;
      SidrReply.write(
          reply,
          ManagementDatagram.transaction(mad),
          SidrRequest.requestId(mad),
          SidrReply.STATUS_SUCCESS,
          NUMBER,
          CmaHeader.QUEUE_KEY,
          SidrRequest.serviceId(mad));
      /* The reply contains the request's private data, as replies of SubnetHost do. */
      long privateData = SidrRequest.privateData(mad) + CmaHeader.BYTES;
      PrivateBytes.write(
          SidrReply.privateData(reply),
          PrivateBytes.read(privateData, PrivateBytes.IN_REPLY),
          PrivateBytes.IN_REPLY);
      sendMad(from);
    }
  }

  @Override
  public void close() {
    fabric.close();
    arena.close();
  }
}
