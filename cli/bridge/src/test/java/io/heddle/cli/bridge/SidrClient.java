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
 * A host that asks a server for several services and sends numbers to each. As if the network were
 * bad, it doesn't hear the first reply to any request. All clients have the same request ids.
 */
final class SidrClient {
  private static final int NUMBERS = 5;
  private static final long REPEAT_NS = 100_000_000;

  private final DatagramEnd end;
  private final Gid server;
  private final int firstQueuePair;
  private final List<Talk> talks = new ArrayList<>();

  /** With one service. Its place in the list is its request id. */
  private static final class Talk {
    private final long service;
    private int repliesHeard;
    private int queuePair;
    private int nextNumber;
    private boolean sent;
    private long sentNs;

    private Talk(long service) {
      this.service = service;
    }

    private boolean isOver() {
      return nextNumber == NUMBERS;
    }
  }

  /**
   * @param firstQueuePair that it talks from; each service has the next
   */
  SidrClient(DatagramEnd end, Gid server, int firstQueuePair, int services) {
    this.end = end;
    this.server = server;
    this.firstQueuePair = firstQueuePair;
    for (int i = 0; i < services; i++) {
      talks.add(new Talk(CmaHeader.datagramService(7000 + i)));
    }
  }

  boolean isDone() {
    return talks.stream().allMatch(Talk::isOver);
  }

  /** Checks that each service's number is the one that the server has given this client. */
  void check(SidrServer asked) {
    check(asked, end.address());
  }

  /** The same of a server that sees this client by another address. */
  void check(SidrServer asked, Gid seenAs) {
    for (Talk each : talks) {
      assertEquals(asked.queuePair(seenAs, each.service), each.queuePair);
    }
  }

  /** Does what there is to do. */
  void work() {
    while (end.receive()) {
      assertEquals(server, end.from());
      if (PacketFormat.queuePair(end.packet()) == ManagementDatagram.QUEUE_PAIR) {
        hearReply();
      } else {
        hearNumber();
      }
    }
    long now = System.nanoTime();
    for (int id = 0; id < talks.size(); id++) {
      Talk talk = talks.get(id);
      if (!talk.isOver() && (!talk.sent || now - talk.sentNs > REPEAT_NS)) {
        talk.sent = true;
        talk.sentNs = now;
        say(id, talk);
      }
    }
  }

  private void say(int id, Talk talk) {
    if (talk.queuePair == 0) {
      SidrRequest.write(end.payload(), transaction(id), id, talk.service);
      CmaHeader.write(SidrRequest.privateData(end.payload()), 9000, end.address(), server);
      end.sendMad(server);
    } else {
      end.sendNumber(
          server, talk.queuePair, firstQueuePair + id, SidrServer.QUEUE_KEY, talk.nextNumber);
    }
  }

  private long transaction(int id) {
    return end.address().low() << 16 | id;
  }

  private void hearReply() {
    long mad = end.payload();
    assertEquals(CmMessage.SIDR_REPLY, ManagementDatagram.messageOf(mad, ManagementDatagram.BYTES));
    int id = SidrReply.requestId(mad);
    Talk talk = talks.get(id);
    assertEquals(transaction(id), ManagementDatagram.transaction(mad));
    assertEquals(talk.service, SidrReply.serviceId(mad));
    if (SidrReply.status(mad) == SidrReply.STATUS_NO_QUEUE_PAIR) {
      /* The bridge's word where the machine is slower than its patience: this asks again. */
      return;
    }
    assertEquals(SidrReply.STATUS_SUCCESS, SidrReply.status(mad));
    talk.repliesHeard++;
    if (talk.repliesHeard > 1) {
      talk.queuePair = SidrReply.queuePair(mad);
      talk.sent = talk.nextNumber > 0;
    }
  }

  private void hearNumber() {
    int id = PacketFormat.queuePair(end.packet()) - firstQueuePair;
    Talk talk = talks.get(id);
    assertEquals(talk.queuePair, DatagramFormat.sourceQueuePair(end.packet()));
    long number = Memory.ALL.get(Memory.NETWORK_LONG, end.payload());
    if (number == talk.nextNumber) {
      talk.nextNumber++;
      talk.sent = false;
    }
  }
}
