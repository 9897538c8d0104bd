package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.fabric.VerbsFabric;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.fabric.Way;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.MappedEnd;
import io.heddle.bridge.unicast.MappedForwarder;
import io.heddle.bridge.unicast.NumberMapping;
import io.heddle.bridge.unicast.StandIn;
import io.heddle.bridge.unicast.StandIns;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.cli.lab.Skip;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
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
 * Datagrams for one host between two devices of the stand-in, by real queue pairs. Each fabric is
 * one device, which its host and the bridge share. The stand-in has no communication manager, so
 * the test is that of both. Runs in a process of its own, as {@link ProviderFaultTest}.
 */
@EndsWithin(60)
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
    BuiltParts.standin();
    if (System.getenv("STANDIN_FABRIC") == null) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @AfterEach
  void close() {
    opened.forEach(VerbsFabric::close);
    arena.close();
  }

  /** Knows the only host of its fabric, and has the ways to it made before it tells of it. */
  private static final class Manager implements NumberService {
    private final Queue<Heard> heard = new ArrayDeque<>();
    private final VerbsFabric end;
    private final VerbsFabric host;
    private int accepted;

    private Manager(VerbsFabric end, VerbsFabric host) {
      this.end = end;
      this.host = host;
    }

    @Override
    public String describe() {
      return "the test";
    }

    @Override
    public void ask(int token, Gid source, Gid server, int port, List<Byte> privateData) {
      prepare(source, server);
      heard.add(new Answer(token, 0, host.numbers()[0], CmaHeader.QUEUE_KEY, List.of()));
    }

    private void askedBy(Gid client, Gid address) {
      prepare(address, client);
      heard.add(new Question(1, address, PORT, client, 9, List.of()));
    }

    @Override
    public void prepare(Gid source, Gid destination) {
      end.wayBetween(source, destination, 0);
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
    public @Nullable Heard take() {
      return heard.poll();
    }

    @Override
    public String look() {
      return "";
    }

    @Override
    public void close() {}
  }

  private VerbsFabric open(int side, List<Gid> own, List<Gid> standIns, int queuePairs) {
    VerbsSpec spec =
        new VerbsSpec(side == A ? "a" : "b", "standin" + side, own, standIns, queuePairs, 1);
    VerbsFabric fabric = VerbsFabric.open(spec, (level, sentence) -> {});
    fabric.countAt(counters);
    opened.add(fabric);
    return fabric;
  }

  /** One fabric: its host, and the bridge's end with the address that stands for the far host. */
  private final class Side {
    private final int number;
    private final VerbsFabric host;
    private final VerbsFabric end;
    private final Gid hostAddress;
    private final Gid standIn;
    private final Manager manager;
    private final Way way;

    private Side(int number) {
      this.number = number;
      host = open(number, List.of(), List.of(), 1);
      hostAddress = host.ownAddresses().get(1);
      standIn = host.ownAddresses().get(2);
      end = open(number, List.of(host.ownAddresses().get(3)), List.of(standIn), QUEUE_PAIRS);
      manager = new Manager(end, host);
      way = host.wayBetween(hostAddress, standIn, 0);
    }

    private int hostsNumber() {
      return host.numbers()[0];
    }

    private void send(int to, long word) {
      DatagramFormat.write(packet, IMMEDIATE, 0, to, 1, CmaHeader.QUEUE_KEY, hostsNumber());
      DatagramFormat.setImmediate(packet, hostsNumber());
      Memory.clear(packet + HEADERS, PAYLOAD_BYTES);
      Memory.setLong(packet + HEADERS, word);
      host.send(way, packet, LENGTH, 0, directions[number], System.nanoTime());
      host.flush();
    }

    /* Where the next one came from, as immediate and source have it; and what was in it. */
    private int hear(long word) {
      Patience patience = Patience.ofSeconds(20);
      while (host.poll() == 0) {
        assertFalse(patience.isOver(), "nothing came");
      }
      long got = host.batch().address(0);
      assertEquals(standIn, new Gid(host.batch().sourceHigh(0), host.batch().sourceLow(0)));
      assertEquals(word, Memory.getLong(got + HEADERS));
      assertEquals(DatagramFormat.sourceQueuePair(got), DatagramFormat.immediate(got));
      return DatagramFormat.sourceQueuePair(got);
    }
  }

  private void pass(MappedForwarder forwarder, List<Side> sides, StandIns standIns) {
    for (Side each : sides) {
      int trains = each.end.poll();
      for (int train = 0; train < trains; train++) {
        forwarder.forward(each.number, train, RULES, RULES, standIns);
      }
      sides.get(1 - each.number).end.flush();
      forwarder.expire(each.number, System.nanoTime());
    }
  }

  @Test
  void hostsOfBothFabricsAskAndTalkByQueuePairsOfTheBridge() {
    Side a = new Side(A);
    Side b = new Side(B);
    List<Side> sides = List.of(a, b);
    StandIns standIns =
        new StandIns(
            List.of(
                new StandIn(A, a.standIn, b.hostAddress),
                new StandIn(B, b.standIn, a.hostAddress)));
    NumberMapping mapping = new NumberMapping(QUEUE_PAIRS, true, List.of(PORT));
    MappedForwarder forwarder =
        new MappedForwarder(
            arena,
            MappedEnd.behind(a.end, a.manager),
            MappedEnd.behind(b.end, b.manager),
            new UnicastSettings(0, Addresses.PROXIED, standIns, mapping),
            mapping,
            directions,
            new Limiter(
                arena,
                1 << 20,
                8192,
                (flow, at, length, crc, digest, arrivedNs, nowNs) ->
                    sides
                        .get(flow.side())
                        .end
                        .send(flow.way(), at, length, crc, flow.counters(), arrivedNs),
                System.nanoTime()),
            new SplittableRandom(1));
    for (Side client : sides) {
      Side server = sides.get(1 - client.number);
      client.manager.askedBy(client.hostAddress, client.standIn);
      pass(forwarder, sides, standIns);
      pass(forwarder, sides, standIns);
      int service = client.manager.accepted;
      for (int i = 0; i < EACH; i++) {
        client.send(service, i);
        pass(forwarder, sides, standIns);
        server.send(server.hear(i), -i);
        pass(forwarder, sides, standIns);
        client.hear(-i);
      }
    }
  }
}
