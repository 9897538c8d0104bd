package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.infiniband.RdmaCmSidrService;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * Host of an InfiniBand subnet. It resolves services by RDMA CM, offers a service, and sends from
 * its own queue pairs. It has no thread of its own.
 */
final class SubnetHost implements AutoCloseable {
  static final int PORT = 7174;

  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int HEADERS = DatagramFormat.headerBytes(IMMEDIATE);
  private static final int PAYLOAD_BYTES = 64;
  private static final int LENGTH = HEADERS + PAYLOAD_BYTES + PacketFormat.ICRC_BYTES;
  private static final int MOST_SECONDS = 20;

  private final VerbsFabric fabric;
  private final RdmaCmSidrService manager;
  private final Gid address;
  private final Runnable meanwhile;
  private final Arena arena = Arena.ofShared();
  private final long packet = Memory.allocate(arena, 256, 8);
  private final long counters = Memory.allocate(arena, 8192, 8);
  private final List<String> output = new ArrayList<>();
  private int lastToken;

  /**
   * A received message.
   *
   * @param to number of the receiving queue pair
   * @param from number of the sending queue pair
   */
  record Received(int to, int from, long word) {}

  /**
   * Creates a host.
   *
   * @param meanwhile task that runs repeatedly while the host waits
   */
  SubnetHost(String device, Gid address, int queuePairs, Runnable meanwhile) {
    VerbsSpec spec = new VerbsSpec("host", device, List.of(address), List.of(), queuePairs, 1);
    fabric = VerbsFabric.open(spec, (level, sentence) -> output.add(sentence), counters);
    manager =
        RdmaCmSidrService.open(
            fabric, fabric.hosts(), device, 0, (level, sentence) -> output.add(sentence));
    this.address = address;
    this.meanwhile = meanwhile;
  }

  Gid address() {
    return address;
  }

  int number(int index) {
    return fabric.numbers()[index];
  }

  VerbsFabric fabric() {
    return fabric;
  }

  /** Offers the first queue pair as a service at these addresses. */
  void serve(List<Gid> addresses) {
    manager.serve(addresses, List.of(PORT));
  }

  /** Accepts a waiting request for the service. */
  void answer() {
    SidrService.Message heard = manager.take();
    if (heard instanceof SidrService.IncomingSidrRequest question) {
      manager.accept(question.id(), number(0), question.privateData());
    }
  }

  /** Sends a request for a service from one of the host's addresses, and returns the answer. */
  SidrService.Answer request(Gid from, Gid server, int port) {
    lastToken++;
    manager.request(lastToken, from, server, port, List.of((byte) 1, (byte) lastToken));
    Deadline deadline = Deadline.ofSeconds(MOST_SECONDS);
    while (true) {
      assertFalse(deadline.isOver(), () -> server + " has not answered; " + output);
      meanwhile.run();
      if (manager.take() instanceof SidrService.Answer answer) {
        assertEquals(lastToken, answer.token());
        return answer;
      }
    }
  }

  /** Returns the queue pair number of a server's service, resolved from the host's address. */
  int numberOf(Gid server) {
    return numberOf(address, server);
  }

  /**
   * Returns the queue pair number of a server's service, resolved from one of the host's addresses.
   * Repeats the request until the server listens.
   */
  int numberOf(Gid from, Gid server) {
    Deadline deadline = Deadline.ofSeconds(MOST_SECONDS);
    SidrService.Answer answer = request(from, server, PORT);
    while (answer.status() != 0) {
      assertFalse(deadline.isOver(), answer + " " + output);
      answer = request(from, server, PORT);
    }
    assertEquals(CmaHeader.QUEUE_KEY, answer.key());
    assertEquals(List.of((byte) 1, (byte) lastToken), answer.privateData().subList(0, 2));
    return answer.number();
  }

  /**
   * Sends a word from one of the host's queue pairs. The immediate data is the queue pair's number.
   */
  void send(int index, Gid to, int number, long word) {
    int own = number(index);
    DatagramFormat.write(packet, IMMEDIATE, 0, number, 1, CmaHeader.QUEUE_KEY, own);
    DatagramFormat.setImmediate(packet, own);
    Memory.clear(packet + HEADERS, PAYLOAD_BYTES);
    Memory.setLong(packet + HEADERS, word);
    SendPath sendPath = fabric.sendPathBetween(address, to, 0);
    fabric.packets().send(sendPath, packet, LENGTH, 0, counters, System.nanoTime());
    fabric.packets().flush();
  }

  /** Waits for the next message and returns it. */
  Received receive() {
    Deadline deadline = Deadline.ofSeconds(MOST_SECONDS);
    List<Received> heard = poll();
    while (heard.isEmpty()) {
      assertFalse(deadline.isOver(), "nothing came");
      meanwhile.run();
      heard = poll();
    }
    assertEquals(1, heard.size(), heard.toString());
    return heard.getFirst();
  }

  /** Returns the messages that have arrived, without waiting. */
  List<Received> poll() {
    List<Received> heard = new ArrayList<>();
    int trains = fabric.packets().poll();
    TrainBatch batch = fabric.packets().batch();
    for (int train = 0; train < trains; train++) {
      long at = batch.address[train];
      int from = DatagramFormat.sourceQueuePair(at);
      assertEquals(from, DatagramFormat.immediate(at), "its sender's number, as the bridge has it");
      heard.add(new Received(PacketFormat.queuePair(at), from, Memory.getLong(at + HEADERS)));
    }
    return heard;
  }

  @Override
  public void close() {
    manager.close();
    fabric.close();
    arena.close();
  }
}
