package io.heddle.tools.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.bpf.BpfProgram;
import io.heddle.fabric.model.EcmpGroup;
import io.heddle.fabric.model.JenkinsHash;
import io.heddle.fabric.model.RoceFlow;
import io.heddle.fabric.model.SprayHash;
import io.heddle.platform.Lookup3;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of the switches' BPF program, which the kernel runs on single packets without sending them.
 */
@EndsWithin(120)
@SystemTest
final class SwitchProgramTest {
  private static final int SEED = 0x5eed;
  private static final int LINKS = 4;
  private static final int PAYLOAD = 1024;
  private static final int BITS_PER_BYTE = 8;
  private static final String FROM = "fd00:a::1";
  private static final String TO = "fd00:b::1";

  private static NetworkNamespaces net;

  private SwitchProgram program;

  @BeforeAll
  static void skipWithoutBpf() {
    Requirements.skipWhere(SwitchProgram.refusal().orElse(""));
    Requirements.namespaces();
  }

  @BeforeEach
  void load() {
    net = NetworkTopology.of("switch").create();
    program = SwitchProgram.load(leaf(1_000_000_000L));
    program.configure(SwitchingMode.SPRAY, SprayScope.GLOBAL);
  }

  @AfterEach
  void unload() {
    if (program != null) {
      program.close();
    }
    if (net != null) {
      net.close();
    }
  }

  private static LabSwitch leaf(long lastLinksRate) {
    List<SwitchMember> members = new ArrayList<>();
    for (int i = 0; i < LINKS; i++) {
      long rate = i == LINKS - 1 ? lastLinksRate : 1_000_000_000L;
      members.add(new SwitchMember("s" + (i + 1), "fe80::2", i + 1, rate, List.of()));
    }
    return new LabSwitch(
        "leaf",
        net.name("switch"),
        SEED,
        List.of("lo"),
        List.of(new SwitchGroup("fd00:b::/64", members)));
  }

  /*
   * Returns the number of the member over which the program sends a packet; −1 if it selects none.
   */
  private int member(RocePacket packet) {
    BpfProgram.Run run = program.loaded().run(packet.bytes(), 1);
    return run.mark() - 1;
  }

  private static RocePacket protocol(int port) {
    return new RocePacket(FROM, TO, port, false, 7, PAYLOAD);
  }

  private static RocePacket data(int port, int sequence) {
    return new RocePacket(FROM, TO, port, true, sequence, PAYLOAD);
  }

  private static int byHash(int port, int members) {
    return new JenkinsHash(SEED)
        .member(
            new RoceFlow(AddressText.parse(FROM), AddressText.parse(TO), port, 0),
            new EcmpGroup(members));
  }

  @Test
  void tenThousandProtocolPacketsTakeThePredictedLink() {
    for (int port = 40_000; port < 50_000; port++) {
      assertEquals(byHash(port, LINKS), member(protocol(port)), "port " + port);
    }
  }

  @Test
  void dataPacketsOfOneFlowSpreadOverAllLinksAndItsProtocolPacketsStay() {
    List<LinkCount> counts;
    do {
      program.loaded().run(data(50_000, 1).bytes(), 1_000);
      program.loaded().run(protocol(50_000).bytes(), 1_000);
      counts = program.counts();
    } while (counts.stream().anyMatch(each -> each.markedPackets() == 0));
    assertEquals(1, counts.stream().filter(each -> each.otherPackets() > 0).count());
    assertTrue(counts.get(byHash(50_000, LINKS)).otherPackets() >= 1_000);
  }

  @Test
  void dataStaysOnItsLinkInHashMode() {
    program.configure(SwitchingMode.HASH, SprayScope.GLOBAL);
    program.loaded().run(data(50_000, 1).bytes(), 1_000);
    assertEquals(1_000, program.counts().get(byHash(50_000, LINKS)).markedPackets());
  }

  @Test
  void downLinkIsAvoidedAndReturns() {
    boolean[] alive = {true, false, true, true};
    program.setAlive(0, alive);
    for (SwitchingMode mode : SwitchingMode.values()) {
      program.configure(mode, SprayScope.GLOBAL);
      for (int port = 40_000; port < 41_000; port++) {
        assertTrue(member(data(port, port)) != 1, mode.text());
        assertTrue(member(protocol(port)) != 1, mode.text());
      }
    }
    int[] left = {0, 2, 3};
    assertEquals(left[byHash(50_000, 3)], member(protocol(50_000)), "by hash among three");
    assertFalse(program.counts().get(1).alive());
    program.setAlive(0, new boolean[] {true, true, true, true});
    assertEquals(byHash(50_000, LINKS), member(protocol(50_000)));
  }

  @Test
  void kernelRouteAppliesIfAllLinksAreDown() {
    program.setAlive(0, new boolean[LINKS]);
    for (SwitchingMode mode : SwitchingMode.values()) {
      program.configure(mode, SprayScope.GLOBAL);
      assertEquals(-1, member(data(50_000, 1)));
    }
  }

  @Test
  void otherPacketsAreLeftToTheKernel() {
    assertEquals(-1, member(new RocePacket(FROM, "fd00:c::1", 50_000, true, 1, 0)));
    byte[] otherPort = data(50_000, 1).bytes();
    otherPort[14 + 40 + 3]++;
    assertEquals(0, program.loaded().run(otherPort, 1).mark());
    byte[] tcp = data(50_000, 1).bytes();
    tcp[14 + 6] = 6;
    assertEquals(0, program.loaded().run(tcp, 1).mark());
  }

  @Test
  void sprayLinkChoosesFromTheLessLoadedHalfByTheModelsHash() {
    program.configure(SwitchingMode.SPRAYLINK, SprayScope.GLOBAL);
    /*
     * Links without a queue are used and accumulate bytes, so a link with a queue enters the better
     * half. The correction then moves packets away from that link.
     */
    long[] queues = {1 << 28, 0, 1 << 28, 0};
    program.detect(0, queues);
    SprayHash model = new SprayHash(1e9, 1e9, 1e9, 1e9);
    double[] sent = new double[LINKS];
    model.detect(sent, new double[] {1 << 28, 0, 1 << 28, 0});
    assertEquals(2, model.better());
    int flow = Lookup3.hash(hashKey(), SEED);
    Set<Integer> used = new HashSet<>();
    for (int sequence = 0; sequence < 200; sequence++) {
      int chosen = member(data(50_000, sequence));
      assertEquals(
          model.select(
              Lookup3.hash(flow, sequence),
              new double[] {1 << 28, 0, 1 << 28, 0},
              data(50_000, sequence).bytes().length),
          chosen,
          "sequence " + sequence);
      used.add(chosen);
      /*
       * The loads are updated after each packet, so that the correction sees no bytes sent since.
       */
      program.detect(0, queues);
      double[] now = new double[LINKS];
      now[chosen] = data(50_000, sequence).bytes().length;
      model.detect(now, new double[] {1 << 28, 0, 1 << 28, 0});
    }
    assertEquals(Set.of(1, 3), used);
  }

  private static byte[] hashKey() {
    return java.nio.ByteBuffer.allocate(36)
        .put(AddressText.parse(FROM).getAddress())
        .put(AddressText.parse(TO).getAddress())
        .putShort((short) 50_000)
        .array();
  }

  @Test
  void sprayLinkCorrectsToTheBestLinkIfTheChosenQueueIsLonger() {
    program.configure(SwitchingMode.SPRAYLINK, SprayScope.GLOBAL);
    /* Links 2 and 3 are the better half. Link 3's queue is too long to drain during a test. */
    program.detect(0, new long[] {1L << 36, 1L << 36, 0, 1L << 35});
    for (int sequence = 0; sequence < 100; sequence++) {
      assertEquals(2, member(data(50_000, sequence)));
    }
    LinkCount best = program.counts().get(2);
    assertEquals(100, best.markedPackets());
    assertTrue(best.correctedPackets() > 0, "some were corrected to this link");
  }

  @Test
  void sprayLinkCorrectsToADrainedLinkOutsideTheBetterHalf() {
    program.configure(SwitchingMode.SPRAYLINK, SprayScope.GLOBAL);
    /*
     * By the moving averages, the first two links are still the better half after the second
     * update, although their queues are long.
     */
    program.detect(0, new long[] {0, 0, 1L << 36, 1L << 36});
    program.detect(0, new long[] {1L << 35, 1L << 35, 1L << 34, 0});
    for (int sequence = 0; sequence < 100; sequence++) {
      assertEquals(3, member(data(50_000, sequence)));
    }
    assertEquals(100, program.counts().get(3).correctedPackets());
    program.setAlive(0, new boolean[] {true, true, true, false});
    assertEquals(2, member(data(50_000, 1)), "the best one that is up");
  }

  @Test
  void sprayLinkUsesBytesWithoutQueues() {
    program.configure(SwitchingMode.SPRAYLINK, SprayScope.GLOBAL);
    long[] idle = new long[LINKS];
    program.detect(0, idle);
    /*
     * The bytes of the first interval went over the first two links, so the next packets take the
     * other two.
     */
    Set<Integer> first = new HashSet<>();
    for (int sequence = 0; first.size() < 2; sequence++) {
      program.detect(0, idle);
      first.add(member(data(50_000, sequence)));
    }
    Set<Integer> all = new HashSet<>(first);
    for (int sequence = 0; all.size() < LINKS; sequence++) {
      program.detect(0, idle);
      all.add(member(data(50_000, sequence)));
    }
  }

  @Test
  void linkAtAQuarterRateGetsAQuarterOfTheBytes() {
    SwitchProgram slow = SwitchProgram.load(leaf(250_000_000L));
    try (slow) {
      slow.configure(SwitchingMode.SPRAYLINK, SprayScope.GLOBAL);
      QueueModel queues = new QueueModel(1e9, 1e9, 1e9, 0.25e9);
      for (int interval = 0; interval < 2_000; interval++) {
        List<LinkCount> before = slow.counts();
        /* Number of packets that are 90 % of 3.25 Gbit/s for a millisecond. */
        int packets = (int) (0.9 * 3.25e9 / 1e3 / BITS_PER_BYTE / (PAYLOAD + 74));
        for (int i = 0; i < packets / 8; i++) {
          slow.loaded().run(data(50_000, interval * 1_000 + i).bytes(), 8);
        }
        queues.pass(1e-3, before, slow.counts());
        slow.detect(0, queues.bytes());
      }
      List<LinkCount> counts = slow.counts();
      double all = counts.stream().mapToLong(LinkCount::markedBytes).sum();
      assertEquals(0.25 / 3.25, counts.get(3).markedBytes() / all, 0.02);
      assertEquals(1 / 3.25, counts.get(0).markedBytes() / all, 0.03);
      assertTrue(counts.get(3).correctedPackets() + counts.get(0).correctedPackets() > 0);
    }
  }

  @Test
  void interfaceAndPolicyScopesLimitSpraying() {
    Set<Integer> one = Set.of(byHash(50_000, LINKS));
    program.configure(SwitchingMode.SPRAY, new SprayScope(List.of("leaf:lo"), List.of()));
    assertEquals(LINKS, linksUsed());
    program.configure(SwitchingMode.SPRAY, new SprayScope(List.of("other:lo"), List.of()));
    assertEquals(one, someOf());
    program.configure(SwitchingMode.SPRAY, new SprayScope(List.of(), List.of("fd00:b::1/128")));
    assertEquals(LINKS, linksUsed());
    program.configure(SwitchingMode.SPRAY, new SprayScope(List.of(), List.of("fd00:b::2/128")));
    assertEquals(one, someOf());
    program.configure(
        SwitchingMode.SPRAY, new SprayScope(List.of("leaf:lo"), List.of("fd00:b::2/128")));
    assertEquals(one, someOf());
    program.configure(SwitchingMode.SPRAY, SprayScope.GLOBAL);
    assertEquals(LINKS, linksUsed());
  }

  private int linksUsed() {
    Set<Integer> used = new HashSet<>();
    while (used.size() < LINKS) {
      used.add(member(data(50_000, 1)));
    }
    return used.size();
  }

  private Set<Integer> someOf() {
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      used.add(member(data(50_000, i)));
    }
    return used;
  }
}
