package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of the bridge's end in an InfiniBand fabric, with two devices of the stand-in for
 * libibverbs. The test double of librdmacm joins the groups. The tests run in a separate process,
 * like {@link InfinibandDatagramTest}.
 */
@EndsWithin(60)
@SystemTest
final class InfinibandFabricTest {
  private static final int QUEUE_KEY = 0x0123_4567;
  private static final int BYTES = 101;
  private static final int ROUND = 200;

  private final Arena arena = Arena.ofShared();
  private final long counters = Memory.allocate(arena, 4096, 8);
  private final long groupCounters = Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8);
  private final long packet = Memory.allocate(arena, 8192, 8);
  private final List<String> output = new ArrayList<>();
  private VerbsFabric near;
  private VerbsFabric far;

  @BeforeAll
  static void requireStandin() {
    BuildOutputs.standin();
    BuildOutputs.standinManager();
    if (!"infiniband".equals(System.getenv("STANDIN_LINK"))) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @BeforeEach
  void open() throws UnknownHostException {
    near = fabric("standin0", "10.9.0.1");
    far = fabric("standin1", "10.9.0.2");
  }

  @AfterEach
  void close() {
    near.close();
    far.close();
    arena.close();
  }

  private static Gid gid(String address) throws UnknownHostException {
    return Gid.of(InetAddress.getByName(address));
  }

  private VerbsFabric fabric(String device, String address) throws UnknownHostException {
    VerbsSpec spec = new VerbsSpec("a", device, List.of(gid(address)), List.of(), 0, 1);
    VerbsFabric fabric =
        VerbsFabric.open(spec, (level, sentence) -> output.add(sentence), counters);
    return fabric;
  }

  /*
   * Builds a datagram with the headers that the bridge uses on a wire fabric, and returns its
   * length.
   */
  private int build() {
    int pad = -BYTES & 3;
    int everybody = DatagramFormat.MULTICAST_QUEUE_PAIR;
    DatagramFormat.write(packet, DatagramFormat.SEND_ONLY, pad, everybody, 77, QUEUE_KEY, 0x4711);
    int headers = DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY);
    for (int i = 0; i < BYTES; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + headers + i, (byte) (i * 7));
    }
    return headers + BYTES + pad + PacketFormat.ICRC_BYTES;
  }

  private void send(VerbsFabric by, SendPath sendPath) {
    by.packets().send(sendPath, packet, build(), 0, groupCounters, System.nanoTime());
    by.packets().flush();
  }

  private static TrainBatch await(VerbsFabric fabric) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (fabric.packets().poll() == 0) {
      assertFalse(deadline.isOver(), "nothing came");
    }
    return fabric.packets().batch();
  }

  /*
   * Expects that nothing was received. The stand-in for libibverbs delivers at once, so one poll
   * suffices.
   */
  private static void expectNothing(VerbsFabric fabric) {
    assertEquals(0, fabric.packets().poll());
  }

  @ParameterizedTest
  @CsvSource({
    "239.1.2.3, RDMA, 0",
    "239.1.2.3, IPV4, 0",
    "239.1.2.3, IB, 0",
    "239.1.2.3, CLLM, 4711",
    "ff15::1:2, RDMA, 0",
    "ff15::1:2, IPV6, 0"
  })
  void groupIsDeliveredUnderEachName(String group, MgidFormat format, int port) throws Exception {
    GroupAddress name = new GroupAddress(gid(group), port, format);
    SendPath sendPath = near.sendPathTo(name, 0);
    far.join(name);
    send(near, sendPath);
    TrainBatch batch = await(far);
    assertEquals(gid(group), new Gid(batch.destinationHigh[0], batch.destinationLow[0]));
    assertEquals(near.ownAddresses().getFirst(), new Gid(batch.sourceHigh[0], batch.sourceLow[0]));
    assertTrue(batch.crossed[0], "a bridge's hop limit isn't 0");
    int headers = DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY);
    assertEquals(BYTES, DatagramFormat.payloadBytes(batch.address[0], batch.lengthBytes[0]));
    assertArrayEquals(
        Memory.toArray(packet + headers, BYTES), Memory.toArray(batch.address[0] + headers, BYTES));
    expectNothing(near);
    far.leave(gid(group));
    send(near, sendPath);
    expectNothing(far);
  }

  @Test
  void joinedGroupChangesItsName() throws Exception {
    GroupAddress before = GroupAddress.of(gid("239.1.2.4"));
    GroupAddress then = new GroupAddress(gid("239.1.2.4"), 0, MgidFormat.IPV4);
    far.join(before);
    far.join(before);
    SendPath old = near.sendPathTo(before, 0);
    send(near, old);
    await(far);
    far.join(then);
    SendPath next = near.sendPathTo(then, 0);
    send(near, old);
    expectNothing(far);
    send(near, next);
    assertEquals(gid("239.1.2.4").low(), await(far).destinationLow[0]);
  }

  @Test
  void sendOnlyMembersAndFormerMembersReceiveNothing() throws Exception {
    GroupAddress name = GroupAddress.of(gid("239.1.2.5"));
    SendPath sendPath = near.sendPathTo(name, 0);
    SendPath again = near.sendPathTo(name, 0x20);
    far.join(name);
    near.retire(again);
    send(near, sendPath);
    await(far);
    expectNothing(near);
    near.retire(sendPath);
    send(near, sendPath);
    expectNothing(far);
    assertEquals("", near.check());
  }

  @Test
  void subnetWithoutSendOnlyMembersJoinsFullyAndReportsIt() throws Exception {
    GroupAddress name = GroupAddress.of(gid("239.1.2.9"));
    far.join(name);
    StandinControl.run("refuse 0/0 rdma_join_multicast_ex " + Errno.EOPNOTSUPP);
    SendPath sendPath = near.sendPathTo(name, 0);
    assertEquals(
        List.of(
            "fabric a: members that only send aren't known here (EOPNOTSUPP (95)), so standin0"
                + " becomes a full member of groups that it only sends to"),
        output);
    send(near, sendPath);
    await(far);
    expectNothing(near);
    near.sendPathTo(GroupAddress.of(gid("239.1.2.10")), 0);
    assertEquals(1, output.size(), "once");
    StandinControl.run("refuse 0/0 rdma_join_multicast " + Errno.EINVAL);
    HeddleException refused =
        assertThrows(
            HeddleException.class, () -> near.sendPathTo(GroupAddress.of(gid("239.1.2.11")), 0));
    assertTrue(refused.getMessage().contains("RDMA CM returned EINVAL"), refused.getMessage());
  }

  @Test
  void rejoinsGroupsWithNewLidsAfterSubnetManagerRestart() throws Exception {
    GroupAddress name = GroupAddress.of(gid("239.1.2.12"));
    far.join(name);
    SendPath sendPath = near.sendPathTo(name, 0);
    send(near, sendPath);
    await(far);
    StandinControl.run("forget");
    Deadline deadline = Deadline.ofSeconds(20);
    do {
      assertFalse(deadline.isOver(), "nothing came");
      near.check();
      far.check();
      send(near, sendPath);
    } while (far.packets().poll() == 0);
    assertEquals(gid("239.1.2.12").low(), far.packets().batch().destinationLow[0]);
    assertEquals(List.of("", ""), List.of(near.check(), far.check()));
    far.leave(gid("239.1.2.12"));
    near.retire(sendPath);
  }

  @Test
  void packetsAllocateNothing() throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    GroupAddress name = new GroupAddress(gid("239.1.2.13"), 0, MgidFormat.IPV4);
    far.join(name);
    SendPath sendPath = near.sendPathTo(name, 0);
    long allocated = -1;
    Deadline deadline = Deadline.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(deadline.isOver(), "the last round allocated " + allocated + " bytes");
      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < ROUND; i++) {
        far.packets().maySleep();
        send(near, sendPath);
        near.packets().poll();
        far.packets().poll();
      }
      allocated = threads.getThreadAllocatedBytes(self) - before;
    }
  }

  /*
   * Adapters deliver a port's multicast to the port itself too. The bridge's first loop rule drops
   * these packets.
   */
  @Test
  void receivingPortReceivesOwnPackets() throws Exception {
    GroupAddress name = GroupAddress.of(gid("239.1.2.6"));
    near.join(name);
    send(near, near.sendPathTo(name, 0));
    TrainBatch batch = await(near);
    assertEquals(near.ownAddresses().getFirst(), new Gid(batch.sourceHigh[0], batch.sourceLow[0]));
  }

  @Test
  void joinAddressDecidesPartition() throws Exception {
    VerbsFabric other = fabric("standin0", "10.9.1.1");
    try {
      assertTrue(
          other.describe().endsWith(" joins by RDMA CM from 10.9.1.1 in partition 0x8001"),
          other.describe());
      GroupAddress name = new GroupAddress(gid("239.1.2.7"), 7, MgidFormat.CLLM);
      far.join(name);
      send(other, other.sendPathTo(name, 0));
      expectNothing(far);
    } finally {
      other.close();
    }
  }

  @Test
  void impossibleConfigurationsAreNamed() throws Exception {
    assertEquals(
        "fabric a: RDMA CM knows the port of standin0 by none of [10.9.0.2], and groups of"
            + " InfiniBand are joined by one; give the port an IPoIB interface with an address, or"
            + " name that by address = in its section",
        refusal("10.9.0.2"));
    assertEquals(
        "fabric a: standin0 has no address 10.9.0.2, which must represent a host; ip addr add"
            + " 10.9.0.2/32 on the IPoIB interface of its port in partition 0xffff",
        standInRefusal("10.9.0.2"));
    assertEquals(
        "fabric a: standin0 has address 10.9.1.1 in partition 0x8001, which must represent a host;"
            + " ip addr add 10.9.1.1/32 on the IPoIB interface of its port in partition 0xffff",
        standInRefusal("10.9.1.1"));
    PeerSettings settings = new PeerSettings(1, 100, 1, 100, false, "", null, null, 14_791);
    HeddleException noBeacons =
        assertThrows(HeddleException.class, () -> near.requireBeacons(settings));
    assertTrue(
        noBeacons.getMessage().contains("no interface in this network namespace"),
        noBeacons.getMessage());
    far.join(GroupAddress.of(gid("ff15::7:8")));
    HeddleException same =
        assertThrows(HeddleException.class, () -> far.join(GroupAddress.of(gid("ff05::7:8"))));
    assertEquals(
        "fabric a: standin1 can't join ff05::7:8: its MGID ff12:6001:ffff::7:8 is that of"
            + " ff15::7:8; choose another mgid=",
        same.getMessage());
    StandinControl.run("port 0/1 down");
    try {
      HeddleException noLink =
          assertThrows(HeddleException.class, () -> far.join(GroupAddress.of(gid("239.1.2.8"))));
      assertEquals(
          "fabric a: standin1 can't join 239.1.2.8: RDMA CM returned ENETUNREACH (101); check"
              + " whether its port has a link and the subnet a manager",
          noLink.getMessage());
    } finally {
      StandinControl.run("port 0/1 up");
    }
  }

  private String standInRefusal(String address) throws UnknownHostException {
    VerbsSpec spec = new VerbsSpec("a", "standin0", List.of(), List.of(gid(address)), 2, 1);
    HeddleException refused = assertThrows(HeddleException.class, () -> near.requireAssigned(spec));
    return String.valueOf(refused.getMessage());
  }

  private String refusal(String address) {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> fabric("standin0", address).close());
    return String.valueOf(refused.getMessage());
  }
}
