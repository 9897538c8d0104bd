package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.MappedEnd;
import io.heddle.bridge.unicast.MappedForwarder;
import io.heddle.bridge.unicast.ProxyAddress;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests of unicast datagrams that a bridge forwards between two devices of the stand-in for
 * libibverbs. Each fabric is one device, which the fabric's host and the bridge share. There is no
 * communication manager here, so the test has one of its own for each fabric. The tests run in a
 * separate process, like {@link ProviderFaultTest}.
 */
@EndsWithin(60)
@SystemTest
final class MappedOverVerbsTest {
  private static final int A = 0;
  private static final int B = 1;
  private static final int PORT = 7174;
  private static final int QUEUE_PAIRS = 2;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int HEADERS = DatagramFormat.headerBytes(IMMEDIATE);
  private static final int PAYLOAD_BYTES = 64;
  private static final int LENGTH = HEADERS + PAYLOAD_BYTES + PacketFormat.ICRC_BYTES;
  private static final int EACH = 100;
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());

  private final Arena arena = Arena.ofShared();
  private final long counters = Memory.allocate(arena, 4096, 8);
  private final long packet = Memory.allocate(arena, 4096, 8);
  private final long[] directions = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private final List<VerbsFabric> opened = new ArrayList<>();

  @BeforeAll
  static void requireStandin() {
    BuildOutputs.standin();
    if (System.getenv("STANDIN_FABRIC") == null) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @AfterEach
  void close() {
    opened.forEach(VerbsFabric::close);
    arena.close();
  }

  /**
   * Communication manager of a fabric with a single host. It creates the send path to the host
   * before it reports the host to the bridge.
   */
  private static final class DirectSidrService implements SidrService {
    private final Queue<Message> messages = new ArrayDeque<>();
    private final VerbsFabric end;
    private final VerbsFabric host;
    private int accepted;

    private DirectSidrService(VerbsFabric end, VerbsFabric host) {
      this.end = end;
      this.host = host;
    }

    @Override
    public String describe() {
      return "the test";
    }

    @Override
    public void request(int token, Gid source, Gid server, int port, List<Byte> privateData) {
      prepare(source, server);
      messages.add(new Answer(token, 0, host.numbers()[0], CmaHeader.QUEUE_KEY, List.of()));
    }

    private void receiveRequest(Gid client, Gid address) {
      prepare(address, client);
      messages.add(new IncomingSidrRequest(1, address, PORT, client, 9, List.of()));
    }

    @Override
    public void prepare(Gid source, Gid destination) {
      end.sendPathBetween(source, destination, 0);
    }

    @Override
    public void serve(List<Gid> addresses, List<Integer> ports) {}

    @Override
    public void accept(long question, int number, List<Byte> privateData) {
      accepted = number;
    }

    @Override
    public void refuse(long question) {
      throw new AssertionError(question + " is refused");
    }

    @Override
    public @Nullable Message take() {
      return messages.poll();
    }

    @Override
    public String check() {
      return "";
    }

    @Override
    public void close() {}
  }

  private VerbsFabric open(int side, List<Gid> proxyAddresses, int queuePairs) {
    VerbsSpec spec =
        new VerbsSpec(
            side == A ? "a" : "b", "standin" + side, List.of(), proxyAddresses, queuePairs, 1);
    VerbsFabric fabric = VerbsFabric.open(spec, (level, sentence) -> {}, counters);
    opened.add(fabric);
    return fabric;
  }

  /** Host of one fabric. */
  private final class Host {
    private final int side;
    private final VerbsFabric fabric;
    private final Gid address;

    private Host(int side) {
      this.side = side;
      fabric = open(side, List.of(), 1);
      address = fabric.ownAddresses().get(1);
    }

    private Gid otherAddress(int number) {
      return fabric.ownAddresses().get(1 + number);
    }

    private int number() {
      return fabric.numbers()[0];
    }

    private void send(Gid to, int number, long word) {
      DatagramFormat.write(packet, IMMEDIATE, 0, number, 1, CmaHeader.QUEUE_KEY, number());
      DatagramFormat.setImmediate(packet, number());
      Memory.clear(packet + HEADERS, PAYLOAD_BYTES);
      Memory.setLong(packet + HEADERS, word);
      SendPath sendPath = fabric.sendPathBetween(address, to, 0);
      fabric.packets().send(sendPath, packet, LENGTH, 0, directions[side], System.nanoTime());
      fabric.packets().flush();
    }

    /*
     * Receives a word. Returns the sender's queue pair number, which is also the packet's immediate
     * data.
     */
    private int receive(Gid from, long word) {
      Deadline deadline = Deadline.ofSeconds(20);
      while (fabric.packets().poll() == 0) {
        assertFalse(deadline.isOver(), "nothing came");
      }
      TrainBatch batch = fabric.packets().batch();
      long got = batch.address[0];
      assertEquals(from, new Gid(batch.sourceHigh[0], batch.sourceLow[0]));
      assertEquals(word, Memory.getLong(got + HEADERS));
      assertEquals(DatagramFormat.sourceQueuePair(got), DatagramFormat.immediate(got));
      return DatagramFormat.sourceQueuePair(got);
    }
  }

  /** Bridge without threads, which the test polls. */
  private final class ThreadlessBridge implements AutoCloseable {
    private final List<Host> hosts;
    private final List<VerbsFabric> ends;
    private final List<DirectSidrService> services;
    private final List<Gid> addresses;
    private final ProxyAddresses proxyAddresses;
    private final MappedForwarder forwarder;

    /**
     * Creates a bridge.
     *
     * @param number number of the bridge, from 1
     */
    private ThreadlessBridge(Host a, Host b, int number) {
      hosts = List.of(a, b);
      addresses = List.of(a.otherAddress(number), b.otherAddress(number));
      ends =
          List.of(
              open(A, List.of(addresses.get(A)), QUEUE_PAIRS),
              open(B, List.of(addresses.get(B)), QUEUE_PAIRS));
      services =
          List.of(
              new DirectSidrService(ends.get(A), a.fabric),
              new DirectSidrService(ends.get(B), b.fabric));
      proxyAddresses =
          new ProxyAddresses(
              List.of(
                  new ProxyAddress(A, addresses.get(A), b.address),
                  new ProxyAddress(B, addresses.get(B), a.address)));
      QueuePairMapping mapping = new QueuePairMapping(QUEUE_PAIRS, true, List.of(PORT));
      forwarder =
          new MappedForwarder(
              arena,
              MappedEnd.ofDevice(ends.get(A), services.get(A)),
              MappedEnd.ofDevice(ends.get(B), services.get(B)),
              new UnicastSettings(0, Addresses.PROXIED, proxyAddresses, mapping),
              mapping,
              directions,
              new Limiter(
                  arena,
                  1 << 20,
                  8192,
                  (flow, at, length, crc, digest, arrivedNs, nowNs) ->
                      ends.get(flow.side())
                          .packets()
                          .send(flow.sendPath(), at, length, crc, flow.counters(), arrivedNs),
                  System.nanoTime()),
              new SplittableRandom(number));
    }

    private void forwardAll() {
      for (int side = 0; side < 2; side++) {
        int trains = ends.get(side).packets().poll();
        for (int train = 0; train < trains; train++) {
          forwarder.forward(side, train, RULES, RULES, proxyAddresses);
        }
        ends.get(1 - side).packets().flush();
        forwarder.expire(side, System.nanoTime());
      }
    }

    /*
     * Resolves the service of the other fabric's host. Returns the queue pair number to which this
     * fabric's host sends requests to the service.
     */
    private int connect(int side) {
      services.get(side).receiveRequest(hosts.get(side).address, addresses.get(side));
      forwardAll();
      forwardAll();
      return services.get(side).accepted;
    }

    /* Sends a word from the client to the server, and the server's answer back. */
    private void exchange(int side, int service, long word) {
      Host client = hosts.get(side);
      Host server = hosts.get(1 - side);
      client.send(addresses.get(side), service, word);
      forwardAll();
      int number = server.receive(addresses.get(1 - side), word);
      server.send(addresses.get(1 - side), number, -word);
      forwardAll();
      client.receive(addresses.get(side), -word);
    }

    @Override
    public void close() {
      forwarder.close();
      ends.forEach(VerbsFabric::close);
    }
  }

  @Test
  void hostsOfBothFabricsConnectByBridgesQueuePairs() {
    ThreadlessBridge bridge = new ThreadlessBridge(new Host(A), new Host(B), 1);
    for (int side = 0; side < 2; side++) {
      int service = bridge.connect(side);
      for (int i = 1; i <= EACH; i++) {
        bridge.exchange(side, service, i);
      }
    }
  }

  /*
   * Each bridge has its own addresses and queue pairs, and doesn't know the other bridge's clients.
   */
  @Test
  void clientOfEndedBridgeUsesAnother() {
    Host a = new Host(A);
    Host b = new Host(B);
    ThreadlessBridge first = new ThreadlessBridge(a, b, 1);
    ThreadlessBridge second = new ThreadlessBridge(a, b, 2);
    int service = first.connect(A);
    first.exchange(A, service, 1);
    int other = second.connect(A);
    first.exchange(A, service, 2);
    second.exchange(A, other, 3);
    first.close();
    a.send(first.addresses.get(A), service, 4);
    assertEquals(0, b.fabric.packets().poll(), "no member receives it any more");
    int again = second.connect(A);
    assertEquals(other, again, "the service has its queue pair there already");
    second.exchange(A, again, 5);
    second.exchange(B, second.connect(B), 6);
  }
}
