package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the bridge's end in a fabric of kind verbs, with two devices of the stand-in for
 * libibverbs. One device sends to a multicast group, and the other one receives. The tests run in a
 * separate process, like {@link ProviderFaultTest}.
 */
@EndsWithin(60)
@SystemTest
final class VerbsFabricTest {
  private static final Gid GROUP = new Gid(0xff15L << 48, 0x4791);
  private static final GroupAddress NAME = GroupAddress.of(GROUP);
  private static final int QUEUE_KEY = 0x0123_4567;
  private static final int ROUND = 200;
  /*
   * Constants of the bridge: packets per poll, posted receives, and the longest delay in a device,
   * in nanoseconds.
   */
  private static final int BATCH = 64;
  private static final int RECEIVES = 1024;
  private static final long DEVICE_NS = 1_000_000;

  private final Arena arena = Arena.ofShared();
  private final long counters = Memory.allocate(arena, 4096, 8);
  private final long groupCounters = Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8);
  private final long packet = Memory.allocate(arena, 8192, 8);
  private final List<String> undo = new ArrayList<>();
  private VerbsFabric near;
  private VerbsFabric far;

  @BeforeAll
  static void requireStandin() {
    BuildOutputs.standin();
    if (System.getenv("STANDIN_FABRIC") == null) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @BeforeEach
  void open() {
    near = fabric("standin0");
    far = fabric("standin1");
  }

  private VerbsFabric opened(String device, List<Gid> addresses) {
    VerbsSpec spec = new VerbsSpec("a", device, addresses, List.of(), 0, 1);
    return VerbsFabric.open(spec, (level, sentence) -> {}, counters);
  }

  private VerbsFabric fabric(String device) {
    return opened(device, List.of());
  }

  @AfterEach
  void close() throws Exception {
    near.close();
    far.close();
    arena.close();
    for (String words : undo) {
      StandinControl.run(words);
    }
  }

  /*
   * Builds a datagram with the headers that the bridge uses on a wire fabric, and with immediate
   * data. Returns its length.
   */
  private int build(int payloadBytes) {
    int pad = -payloadBytes & 3;
    int opcode = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
    int everybody = DatagramFormat.MULTICAST_QUEUE_PAIR;
    DatagramFormat.write(packet, opcode, pad, everybody, 77, QUEUE_KEY, 0x4711);
    DatagramFormat.setImmediate(packet, 0xcafe_f00d);
    int headers = DatagramFormat.headerBytes(opcode);
    for (int i = 0; i < payloadBytes; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, packet + headers + i, (byte) (i * 7));
    }
    return headers + payloadBytes + pad + PacketFormat.ICRC_BYTES;
  }

  private void send(SendPath sendPath, int length) {
    near.packets().send(sendPath, packet, length, 0, groupCounters, System.nanoTime());
    near.packets().flush();
  }

  private int awaitPacket() {
    Deadline deadline = Deadline.ofSeconds(20);
    int count = far.packets().poll();
    while (count == 0) {
      assertFalse(deadline.isOver(), "nothing came");
      count = far.packets().poll();
    }
    return count;
  }

  @Test
  void datagramArrivesWithAddressesAndImmediate() {
    far.join(NAME);
    SendPath sendPath = near.sendPathTo(NAME, 0);
    for (int bytes : new int[] {0, 1, 2, 3, 64, 1001}) {
      int length = build(bytes);
      send(sendPath, length);
      assertEquals(1, awaitPacket());
      TrainBatch batch = far.packets().batch();
      long got = batch.address[0];
      assertEquals(length, batch.lengthBytes[0]);
      assertTrue(DatagramFormat.isDatagram(got, length));
      assertEquals(bytes, DatagramFormat.payloadBytes(got, length));
      assertEquals(0xcafe_f00d, DatagramFormat.immediate(got));
      assertEquals(QUEUE_KEY, DatagramFormat.queueKey(got));
      assertEquals(DatagramFormat.MULTICAST_QUEUE_PAIR, PacketFormat.queuePair(got));
      assertEquals(GROUP, new Gid(batch.destinationHigh[0], batch.destinationLow[0]));
      Gid source = new Gid(batch.sourceHigh[0], batch.sourceLow[0]);
      assertTrue(near.ownAddresses().contains(source), source.toString());
      int headers = DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY_WITH_IMMEDIATE);
      assertArrayEquals(
          Memory.toArray(packet + headers, bytes), Memory.toArray(got + headers, bytes));
    }
    far.leave(GROUP);
    send(sendPath, build(8));
    assertEquals(
        0, far.packets().poll(), "it has left the group, and the stand-in delivers at once");
  }

  /*
   * A packet's time of arrival is known within limits. A bridge that takes over a group needs these
   * limits to recognise packets that the former owner has forwarded.
   */
  @Test
  void packetHasBoundedTimestamp() {
    far.join(NAME);
    SendPath sendPath = near.sendPathTo(NAME, 0);
    int length = build(64);
    assertEquals(0, far.packets().poll(), "nothing has come, and that's known");
    long before = System.nanoTime();
    assertEquals(0, far.packets().poll());
    send(sendPath, length);
    long sent = System.nanoTime();
    assertEquals(1, awaitPacket());
    TrainBatch batch = far.packets().batch();
    assertTrue(batch.arrivedNs[0] - sent >= 0, "it had come before it was polled");
    assertTrue(batch.notBeforeNs[0] - sent < 0);
    assertTrue(batch.notBeforeNs[0] - (before - DEVICE_NS) >= 0, "nothing had come before");
    /*
     * More packets than a batch are always waiting, so that each receive slot is posted exactly
     * once.
     */
    for (int i = 0; i < 2 * BATCH; i++) {
      send(sendPath, length);
    }
    long posted = 0;
    for (int polled = 0; polled < 2 * RECEIVES; polled += BATCH) {
      posted = polled == RECEIVES ? System.nanoTime() : posted;
      assertEquals(BATCH, far.packets().poll());
      for (int i = 0; i < BATCH; i++) {
        send(sendPath, length);
      }
    }
    for (int row = 0; row < BATCH; row++) {
      assertTrue(
          far.packets().batch().notBeforeNs[row] - (posted - DEVICE_NS) >= 0, "posted after that");
    }
  }

  @Test
  void aPortWithoutAnInterfaceCantCarryBeacons() {
    PeerSettings settings = new PeerSettings(1, 100, 1, 100, false, "", null, null, 14_791);
    assertEquals(
        "fabric a: the port of standin0 has no interface in this network namespace, and several"
            + " bridges need one for their beacons; start the bridge in the namespace of the port's"
            + " interface, or remove [redundancy]",
        assertThrows(HeddleException.class, () -> near.requireBeacons(settings)).getMessage());
  }

  /*
   * A fabric may have several datagram queue pairs, whose numbers stand for queue pairs of the
   * other fabric's hosts. Each receives and sends under its own number.
   */
  @Test
  void eachQueuePairUsesItsNumberAndOneDescriptorWakesForAll() {
    far.close();
    VerbsSpec spec = new VerbsSpec("b", "standin1", List.of(), List.of(), 3, 1);
    far = VerbsFabric.open(spec, (level, sentence) -> {}, counters);
    Gid source = near.ownAddresses().get(1);
    Gid destination = far.ownAddresses().get(1);
    SendPath there = near.sendPathBetween(source, destination, 0);
    SendPath back = far.sendPathBetween(destination, source, 0);
    assertSame(back, far.readySendPath(destination, source));
    assertNull(far.readySendPath(source, destination), "nobody has requested that path");
    assertEquals(3, far.numbers().length);
    for (int number : far.numbers()) {
      int length = build(64);
      DatagramFormat.setQueuePair(packet, number);
      assertTrue(far.packets().maySleep());
      assertFalse(LinuxCalls.isReadable(far.packets().descriptor()));
      send(there, length);
      Deadline deadline = Deadline.ofSeconds(20);
      while (!LinuxCalls.isReadable(far.packets().descriptor())) {
        assertFalse(deadline.isOver(), "no thread was woken");
      }
      assertEquals(1, awaitPacket());
      long got = far.packets().batch().address[0];
      assertEquals(number, PacketFormat.queuePair(got));
      assertEquals(near.numbers()[0], DatagramFormat.sourceQueuePair(got));
      DatagramFormat.setQueuePair(got, near.numbers()[0]);
      DatagramFormat.setSourceQueuePair(got, number);
      far.packets().send(back, got, length, 0, groupCounters, System.nanoTime());
      far.packets().flush();
      assertEquals(1, near.packets().poll(), "the stand-in delivers at once");
      assertEquals(number, DatagramFormat.sourceQueuePair(near.packets().batch().address[0]));
      assertEquals(
          source,
          new Gid(
              near.packets().batch().destinationHigh[0], near.packets().batch().destinationLow[0]));
      assertEquals(0, far.packets().poll());
    }
  }

  @Test
  void packetsLongerThanMtuAreNotSent() {
    int mtu = near.packets().mostBytes(false) - 24 - PacketFormat.ICRC_BYTES;
    SendPath sendPath = near.sendPathTo(NAME, 0);
    far.join(NAME);
    send(sendPath, build(mtu));
    assertEquals(1, awaitPacket());
    send(sendPath, build(mtu + 4));
    assertEquals(0, far.packets().poll());
  }

  @Test
  void sleepsOnlyWhileIdleAndWakesForPacket() {
    far.join(NAME);
    SendPath sendPath = near.sendPathTo(NAME, 0);
    assertTrue(far.packets().maySleep());
    assertFalse(LinuxCalls.isReadable(far.packets().descriptor()));
    send(sendPath, build(8));
    Deadline deadline = Deadline.ofSeconds(20);
    while (!LinuxCalls.isReadable(far.packets().descriptor())) {
      assertFalse(deadline.isOver(), "no thread was woken");
    }
    assertFalse(far.packets().maySleep(), "there's a packet");
    assertEquals(1, far.packets().poll());
    assertTrue(far.packets().maySleep());
  }

  @Test
  void pathFollowsAddressToNewTableIndex() throws Exception {
    far.join(NAME);
    SendPath sendPath = near.sendPathTo(NAME, 0);
    assertEquals("", near.check());
    Gid own = near.ownAddresses().get(1);
    undo.add("gid 0/0 9 none");
    undo.add("gid 0/0 1 " + own);
    StandinControl.run("gid 0/0 1 none");
    assertEquals("address " + own + " is gone", near.check());
    StandinControl.run("gid 0/0 9 " + own);
    assertEquals("", near.check());
    send(sendPath, build(8));
    assertEquals(1, awaitPacket());
    assertEquals(
        own, new Gid(far.packets().batch().sourceHigh[0], far.packets().batch().sourceLow[0]));
    near.retire(sendPath);
    assertEquals("", near.check(), "the handles before are freed");
  }

  @Test
  void packetsAllocateNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    far.join(NAME);
    SendPath sendPath = near.sendPathTo(NAME, 0);
    int length = build(320);
    long allocated = -1;
    Deadline deadline = Deadline.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(deadline.isOver(), "the last round allocated " + allocated + " bytes");
      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < ROUND; i++) {
        far.packets().maySleep();
        send(sendPath, length);
        near.packets().poll();
        far.packets().poll();
      }
      allocated = threads.getThreadAllocatedBytes(self) - before;
    }
  }

  @Test
  void missingDeviceOrAddressIsNamed() throws UnknownHostException {
    assertEquals(
        "fabric a: there is no device standin7; did you mean standin0?; there are [standin0,"
            + " standin1]",
        refusal("standin7", List.of()));
    Gid none = Gid.of(InetAddress.getByName("10.9.9.9"));
    assertTrue(
        refusal("standin0", List.of(none))
            .startsWith("fabric a: standin0 has no address 10.9.9.9; it has [fe80::"));
    HeddleException ipv4 =
        assertThrows(
            HeddleException.class,
            () -> near.sendPathTo(GroupAddress.of(Gid.of(InetAddress.getByName("239.1.1.1"))), 0));
    assertEquals(
        "fabric a: standin0 has no IPv4 address to send to group 239.1.1.1 from; give its interface"
            + " one",
        ipv4.getMessage());
  }

  private String refusal(String device, List<Gid> addresses) {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> opened(device, addresses).close());
    return String.valueOf(refused.getMessage());
  }

  @Test
  void refusingDeviceIsNamedAndOpensLater() throws Exception {
    for (String verb : List.of("ibv_create_cq", "ibv_create_qp", "ibv_reg_mr", "ibv_alloc_pd")) {
      StandinControl.run("refuse 0/0 " + verb + " 12 1");
      String refusal = refusal("standin0", List.of());
      assertTrue(refusal.contains(verb.substring(4)), refusal);
    }
    opened("standin0", List.of()).close();
  }
}
