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
import java.util.ArrayList;
import java.util.List;

/**
 * Host that requests several services of a server by SIDR and then sends numbers to each. It
 * ignores the first reply to each request, to simulate loss. All clients use the same request IDs,
 * to test that the bridge tells them apart.
 */
final class SidrClient {
  private static final int NUMBERS = 5;
  private static final long REPEAT_NS = 100_000_000;

  private final DatagramEnd end;
  private final Gid server;
  private final int firstQueuePair;
  private final List<Exchange> exchanges = new ArrayList<>();

  /** Exchange with one service. The request ID is the exchange's index in the list. */
  private static final class Exchange {
    private final long service;
    private int repliesReceived;
    private int queuePair;
    private int nextNumber;
    private boolean sent;
    private long sentNs;

    private Exchange(long service) {
      this.service = service;
    }

    private boolean isOver() {
      return nextNumber == NUMBERS;
    }
  }

  /**
   * @param firstQueuePair source queue pair of the first exchange; each further exchange uses the
   *     next number
   */
  SidrClient(DatagramEnd end, Gid server, int firstQueuePair, int services) {
    this.end = end;
    this.server = server;
    this.firstQueuePair = firstQueuePair;
    for (int i = 0; i < services; i++) {
      exchanges.add(new Exchange(CmaHeader.datagramService(7000 + i)));
    }
  }

  boolean isDone() {
    return exchanges.stream().allMatch(Exchange::isOver);
  }

  /** Checks that the client got the queue pair that the server assigned to it, for each service. */
  void check(SidrServer server) {
    check(server, end.address());
  }

  /**
   * Checks like {@link #check(SidrServer)}, for a server that sees this client under another
   * address.
   */
  void check(SidrServer server, Gid seenAs) {
    for (Exchange each : exchanges) {
      assertEquals(server.queuePair(seenAs, each.service), each.queuePair);
    }
  }

  /** Handles all received packets, and sends messages that are due. */
  void work() {
    while (end.receive()) {
      assertEquals(server, end.from());
      if (PacketFormat.queuePair(end.packet()) == ManagementDatagram.QUEUE_PAIR) {
        receiveReply();
      } else {
        receiveNumber();
      }
    }
    long now = System.nanoTime();
    for (int id = 0; id < exchanges.size(); id++) {
      Exchange exchange = exchanges.get(id);
      if (!exchange.isOver() && (!exchange.sent || now - exchange.sentNs > REPEAT_NS)) {
        exchange.sent = true;
        exchange.sentNs = now;
        sendRequest(id, exchange);
      }
    }
  }

  private void sendRequest(int id, Exchange exchange) {
    if (exchange.queuePair == 0) {
      SidrRequest.write(end.payload(), transaction(id), id, exchange.service);
      CmaHeader.write(SidrRequest.privateData(end.payload()), 9000, end.address(), server);
      end.sendMad(server);
    } else {
      end.sendNumber(
          server,
          exchange.queuePair,
          firstQueuePair + id,
          SidrServer.QUEUE_KEY,
          exchange.nextNumber);
    }
  }

  private long transaction(int id) {
    return end.address().low() << 16 | id;
  }

  private void receiveReply() {
    long mad = end.payload();
    assertEquals(CmMessage.SIDR_REPLY, ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES));
    int id = SidrReply.requestId(mad);
    Exchange exchange = exchanges.get(id);
    assertEquals(transaction(id), ManagementDatagram.transaction(mad));
    assertEquals(exchange.service, SidrReply.serviceId(mad));
    if (SidrReply.status(mad) == SidrReply.STATUS_NO_QUEUE_PAIR) {
      /*
       * This answer is the bridge's own, since the server's answer came after the bridge's
       * deadline. The client sends the request again.
       */
      return;
    }
    assertEquals(SidrReply.STATUS_SUCCESS, SidrReply.status(mad));
    exchange.repliesReceived++;
    if (exchange.repliesReceived > 1) {
      exchange.queuePair = SidrReply.queuePair(mad);
      exchange.sent = exchange.nextNumber > 0;
    }
  }

  private void receiveNumber() {
    int id = PacketFormat.queuePair(end.packet()) - firstQueuePair;
    Exchange exchange = exchanges.get(id);
    assertEquals(exchange.queuePair, DatagramFormat.sourceQueuePair(end.packet()));
    long number = Memory.ALL.get(Memory.NETWORK_LONG, end.payload());
    if (number == exchange.nextNumber) {
      exchange.nextNumber++;
      exchange.sent = false;
    }
  }
}
