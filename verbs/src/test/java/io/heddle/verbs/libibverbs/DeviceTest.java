package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Memory;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests a device's attributes and errors. */
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#arePresent",
    disabledReason = "libibverbs lists no device here")
class DeviceTest {
  private final LeakLedger ledger = new LeakLedger();
  private final Arena arena = Arena.ofConfined();
  private DeviceContext context;

  @BeforeEach
  void open() {
    context = TestDevices.openLeft(ledger);
  }

  @AfterEach
  void closeAndCheckLeaks() {
    context.close();
    arena.close();
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  @Test
  void attributesAndPortAreFilled() {
    assertNotEquals(0, context.attributes().guid());
    assertTrue(context.attributes().pciPath().startsWith("/"), context.attributes().pciPath());
    assertTrue(context.attributes().maxQueuePairs() > 0);
    assertTrue(context.attributes().maxWorkRequests() > 0);
    assertTrue(context.attributes().maxCompletions() > 0);
    assertTrue(context.port().active());
    assertTrue(context.port().speedBitsPerSecond() >= 2_500_000_000L);
    assertEquals(0, context.preferredWriteBytes(context.port().activeMtu()) % 128);
    assertEquals(0, context.progress());
  }

  @Test
  void theGidTableHasTheAddressesOfTheInterface() throws Exception {
    List<GidTable.Entry> entries = context.gidTable().entries();
    assertFalse(entries.isEmpty());
    for (int i = 1; i < entries.size(); i++) {
      assertTrue(entries.get(i - 1).index() < entries.get(i).index(), entries.toString());
    }
    NetworkInterface netdev = NetworkInterface.getByIndex(entries.getFirst().interfaceIndex());
    assumeTrue(netdev != null, "the device has no network interface here");
    List<String> missing = new ArrayList<>();
    for (InetAddress address : netdev.inetAddresses().toList()) {
      if (context.gidTable().indexOf(io.heddle.verbs.Gid.of(address)).isEmpty()) {
        missing.add(address.toString());
      }
    }
    assertEquals(List.of(), missing);
  }

  @Test
  void memoryIsRegisteredWithRelaxedOrderingWhereverItIsKnown() {
    ProtectionDomain pd = context.allocateProtectionDomain();
    Set<Access> access = EnumSet.allOf(Access.class);
    try (MemoryRegion region =
        pd.registerMemory(Memory.allocate(arena, 8192, 4096), 8192, access)) {
      assertNotEquals(0, region.rkey());
    }
  }

  @Test
  void unmappedMemoryIsRefusedWithAddress() {
    ProtectionDomain pd = context.allocateProtectionDomain();
    long page = io.heddle.platform.MemoryCalls.mapMemory(4096);
    io.heddle.platform.MemoryCalls.unmapMemory(page, 4096);
    VerbsException refused =
        assertThrows(
            VerbsException.class,
            () -> pd.registerMemory(page, 4096, EnumSet.of(Access.LOCAL_WRITE)));
    assertTrue(refused.getMessage().contains("0x" + Long.toHexString(page)), refused.getMessage());
    /* rxe returns ENOMEM for every cause. */
    assertTrue(refused.errno() == Errno.EFAULT || refused.errno() == Errno.ENOMEM);
  }

  @Test
  void dmaBufsAreRefusedWithoutSupport() {
    assumeTrue(!context.attributes().supportsDmaBuf(), "this device takes dma-bufs");
    ProtectionDomain pd = context.allocateProtectionDomain();
    VerbsException refused =
        assertThrows(
            VerbsException.class,
            () -> pd.registerDmaBuf(0, 0, 4096, 0x1000, EnumSet.of(Access.LOCAL_WRITE)));
    assertTrue(
        refused.errno() == Errno.EOPNOTSUPP || refused.errno() == Errno.EPROTONOSUPPORT,
        refused.toString());
  }

  @Test
  void usedCompletionQueueStaysOpen() {
    ProtectionDomain pd = context.allocateProtectionDomain();
    var cq = context.createCompletionQueue(16);
    QueuePair qp = pd.createQueuePair(new QueuePairAttributes(cq, cq, 4, 4));
    VerbsException refused = assertThrows(VerbsException.class, cq::close);
    assertEquals(Errno.EBUSY, refused.errno());
    qp.close();
    cq.close();
  }

  @Test
  void refusedTransitionNamesState() {
    ProtectionDomain pd = context.allocateProtectionDomain();
    var cq = context.createCompletionQueue(16);
    QueuePair qp = pd.createQueuePair(new QueuePairAttributes(cq, cq, 4, 4));
    qp.initialise(TestDevices.gidIndex(context));
    VerbsException refused =
        assertThrows(VerbsException.class, () -> qp.initialise(TestDevices.gidIndex(context)));
    assertTrue(refused.getMessage().contains("in state INIT to INIT"), refused.getMessage());
  }

  @Test
  void closedObjectIsNamedInError() {
    ProtectionDomain pd = context.allocateProtectionDomain();
    pd.close();
    assertThrows(
        VerbsException.class, () -> pd.registerMemory(4096, 1, EnumSet.of(Access.LOCAL_WRITE)));
    context.close();
    VerbsException refused =
        assertThrows(VerbsException.class, () -> context.allocateProtectionDomain());
    assertTrue(refused.getMessage().contains("which is closed"), refused.getMessage());
    assertEquals(0, context.pollAsyncEvents((kind, number) -> {}));
  }
}
