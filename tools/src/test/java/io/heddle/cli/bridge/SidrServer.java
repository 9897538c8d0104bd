package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Host with a datagram service. It assigns a queue pair to each client and service, and echoes the
 * packets to that queue pair. To simulate loss and duplication, it ignores the first copy of a
 * request, and answers requests with odd IDs twice.
 */
final class SidrServer {
  static final int QUEUE_KEY = 0x0123_4567;
  private static final int FIRST_QUEUE_PAIR = 0x700;

  private final DatagramEnd end;
  private final Map<String, Integer> queuePairs = new HashMap<>();
  private final Set<Integer> receivedIds = new HashSet<>();
  private final Map<Integer, String> clientsOfIds = new HashMap<>();
  private int echoes;

  SidrServer(DatagramEnd end) {
    this.end = end;
  }

  /** Returns the request IDs received so far. */
  Set<Integer> ids() {
    return clientsOfIds.keySet();
  }

  /** Returns the queue pair assigned to a client. */
  int queuePair(Gid client, long service) {
    return queuePairs.get(client + " " + service);
  }

  int echoes() {
    return echoes;
  }

  /** Handles all received packets. */
  void work() {
    while (end.receive()) {
      if (PacketFormat.queuePair(end.packet()) == ManagementDatagram.QUEUE_PAIR) {
        answer();
      } else {
        echo();
      }
    }
  }

  private void answer() {
    long mad = end.payload();
    assertEquals(
        CmMessage.SIDR_REQUEST, ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES));
    Gid client = end.from();
    int id = SidrRequest.requestId(mad);
    long service = SidrRequest.serviceId(mad);
    long header = SidrRequest.privateData(mad);
    assertEquals(client, CmaHeader.source(header));
    assertEquals(end.address(), CmaHeader.destination(header));
    String asked = client + " " + service;
    String before = clientsOfIds.putIfAbsent(id, asked);
    assertEquals(before == null ? asked : before, asked, "one request id for two requests");
    if (receivedIds.add(id)) {
      return;
    }
    int queuePair = queuePairs.computeIfAbsent(asked, key -> FIRST_QUEUE_PAIR + queuePairs.size());
    long transaction = ManagementDatagram.transaction(mad);
    for (int i = 0; i <= (id & 1); i++) {
      SidrReply.write(
          mad, transaction, id, SidrReply.STATUS_SUCCESS, queuePair, QUEUE_KEY, service);
      end.sendMad(client);
    }
  }

  private void echo() {
    long packet = end.packet();
    int queuePair = PacketFormat.queuePair(packet);
    assertEquals(true, queuePairs.containsValue(queuePair), "queue pair " + queuePair);
    assertEquals(QUEUE_KEY, DatagramFormat.queueKey(packet));
    long number = Memory.ALL.get(Memory.NETWORK_LONG, end.payload());
    echoes++;
    end.sendNumber(
        end.from(), DatagramFormat.sourceQueuePair(packet), queuePair, QUEUE_KEY, number);
  }
}
