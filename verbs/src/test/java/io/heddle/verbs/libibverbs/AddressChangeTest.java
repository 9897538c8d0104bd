package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.verbs.AsyncEventListener.Kind;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import io.heddle.verbs.testing.Endpoint;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Tests changes of addresses and links while a device is open. It changes the left end's network
 * interface, so it runs only if enabled.
 */
@EnabledIfSystemProperty(
    named = "heddle.test.change",
    matches = "true",
    disabledReason = "changes addresses and links; for a guest or machine of the test's own")
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#arePresent",
    disabledReason = "libibverbs lists no device here")
class AddressChangeTest {
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final String MOVED_ADDRESS = "fd00:4791:1::1";
  private static final String OTHER_ADDRESS = "fd00:4791:2::1";

  private final LeakLedger ledger = new LeakLedger();
  private final Set<Kind> events = EnumSet.noneOf(Kind.class);
  private DeviceContext context;
  private String netdev;

  @BeforeEach
  void open() throws Exception {
    context = TestDevices.openLeft(ledger);
    int index = context.gidTable().entries().getFirst().interfaceIndex();
    netdev = NetworkInterface.getByIndex(index).getName();
  }

  @AfterEach
  void restoreAndClose() throws Exception {
    for (String address : List.of(MOVED_ADDRESS, OTHER_ADDRESS)) {
      if (indexOf(address).isPresent()) {
        remove(address);
      }
    }
    ip("link", "set", netdev, "up");
    context.close();
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  private static void ip(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), String.join(" ", command) + ": " + said);
  }

  private void add(String address) throws Exception {
    ip("-6", "address", "add", address + "/64", "dev", netdev, "nodad");
    await(address + " in the GID table", () -> indexOf(address).isPresent());
  }

  private void remove(String address) throws Exception {
    ip("-6", "address", "del", address + "/64", "dev", netdev);
    await(address + " out of the GID table", () -> indexOf(address).isEmpty());
  }

  private OptionalInt indexOf(String address) {
    return context.gidTable().indexOf(gid(address));
  }

  private static Gid gid(String address) {
    try {
      return Gid.of(InetAddress.getByName(address));
    } catch (java.net.UnknownHostException impossible) {
      return fail(impossible);
    }
  }

  private void await(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < DEADLINE_NS, "not within 10 s: " + what);
      context.pollAsyncEvents((kind, number) -> events.add(kind));
    }
  }

  @Test
  void newAddressRaisesEventAndEntry() throws Exception {
    add(MOVED_ADDRESS);
    await("GID_CHANGE", () -> events.contains(Kind.GID_CHANGE));
    int index = indexOf(MOVED_ADDRESS).orElseThrow();
    remove(MOVED_ADDRESS);
    VerbsException refused =
        assertThrows(
            VerbsException.class,
            () -> {
              try (Endpoint end = new Endpoint(context, TestDevices.gidIndex(context), 4096)) {
                end.qp.initialise(index);
              }
            });
    assertTrue(refused.getMessage().contains("GID index " + index), refused.getMessage());
  }

  @Test
  void queuePairFollowsAddressToNewIndex() throws Exception {
    add(OTHER_ADDRESS);
    add(MOVED_ADDRESS);
    int before = indexOf(MOVED_ADDRESS).orElseThrow();
    try (Endpoint left = new Endpoint(context, before, 1 << 16);
        Endpoint right = new Endpoint(context, before, 1 << 16)) {
      left.qp.initialise(before);
      right.qp.initialise(before);
      remove(MOVED_ADDRESS);
      remove(OTHER_ADDRESS);
      add(MOVED_ADDRESS);
      add(OTHER_ADDRESS);
      assertNotEquals(before, indexOf(MOVED_ADDRESS).orElseThrow(), "the test's point");

      moveToReadyToSend(left, right);
      moveToReadyToSend(right, left);
      left.fill(30_000, 3);
      right.qp.postEmptyReceives(1, 1);
      left.qp.postSend(left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 2, 30_000, right));
      assertEquals(Status.SUCCESS, right.awaitCompletion(left).status);
      assertEquals(Status.SUCCESS, left.awaitCompletion(right).status);
      assertArrayEquals(left.bytes(30_000), right.bytes(30_000));
    }
  }

  private void moveToReadyToSend(Endpoint end, Endpoint peer) {
    end.qp.readyToReceive(
        new ReadyToReceiveAttributes(
            context.port().activeMtu(),
            gid(MOVED_ADDRESS),
            peer.qp.number(),
            1,
            new byte[0],
            12,
            0,
            0));
    end.qp.readyToSend(new ReadyToSendAttributes(1, 14, 7, 7));
  }

  @Test
  void removedAddressIsReported() throws Exception {
    add(MOVED_ADDRESS);
    try (Endpoint end = new Endpoint(context, indexOf(MOVED_ADDRESS).orElseThrow(), 4096)) {
      end.qp.initialise(indexOf(MOVED_ADDRESS).orElseThrow());
      remove(MOVED_ADDRESS);
      VerbsException refused =
          assertThrows(VerbsException.class, () -> moveToReadyToSend(end, end));
      assertEquals(Errno.EADDRNOTAVAIL, refused.errno());
      assertTrue(refused.getMessage().contains("no longer in"), refused.getMessage());
    }
  }

  @Test
  void deviceWithoutAddressesUsesNextOne() throws Exception {
    List<String> had =
        context.gidTable().entries().stream()
            .filter(entry -> !entry.gid().isLinkLocal())
            .map(entry -> entry.gid().toString())
            .distinct()
            .toList();
    assertTrue(!had.isEmpty(), "the test's point");
    for (String address : had) {
      remove(address);
    }
    try {
      assertTrue(context.gidTable().entries().stream().allMatch(each -> each.gid().isLinkLocal()));
      add(MOVED_ADDRESS);
      try (Endpoint end = new Endpoint(context, indexOf(MOVED_ADDRESS).orElseThrow(), 4096)) {
        end.qp.initialise(indexOf(MOVED_ADDRESS).orElseThrow());
        moveToReadyToSend(end, end);
      }
    } finally {
      for (String address : had) {
        add(address);
      }
    }
  }

  @Test
  void linkDownAndUpAreEvents() throws Exception {
    ip("link", "set", netdev, "down");
    await("PORT_ERROR", () -> events.contains(Kind.PORT_ERROR));
    assertTrue(!context.port().active());
    ip("link", "set", netdev, "up");
    await("PORT_ACTIVE", () -> events.contains(Kind.PORT_ACTIVE));
    assertTrue(context.port().active());
  }
}
