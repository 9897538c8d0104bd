package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.AsyncEventListener.Kind;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import io.heddle.verbs.testing.Endpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of the libibverbs provider over the stand-in for libibverbs, whose control program makes
 * the devices fail. The tests run in a separate process, whose environment selects the stand-in
 * (see this module's pom).
 */
@EndsWithin(60)
@SystemTest
final class ProviderFaultTest {
  private static final int GID_INDEX = 1;

  private final LeakLedger ledger = new LeakLedger();
  private final List<String> undo = new ArrayList<>();

  @BeforeEach
  void requireStandin() {
    BuildOutputs.standin();
    if (System.getenv("STANDIN_FABRIC") == null) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  @AfterEach
  void heal() throws IOException, InterruptedException {
    for (String words : undo) {
      StandinControl.run(words);
    }
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }

  private DeviceContext open() {
    return LibibverbsDevices.all(ledger).getFirst().open();
  }

  /** Two connected ends on one device. */
  private record ConnectedPair(DeviceContext context, Endpoint left, Endpoint right)
      implements AutoCloseable {
    static ConnectedPair on(DeviceContext context) {
      ConnectedPair couple =
          new ConnectedPair(
              context,
              new Endpoint(context, GID_INDEX, 4096),
              new Endpoint(context, GID_INDEX, 4096));
      couple.connect();
      return couple;
    }

    void connect() {
      /*
       * Timeout code 10 is 4.2 ms. A queue pair of the stand-in for libibverbs fails after four
       * transmissions without an answer.
       */
      Endpoint.connect(left, right, context.port().activeMtu(), 10, 7);
    }

    Status write() {
      SendWorkRequest request = left.request(Operation.RDMA_WRITE, 1, 64, right);
      assertEquals(1, left.qp.postSend(request));
      return left.awaitCompletion(right).status;
    }

    @Override
    public void close() {
      left.close();
      right.close();
      context.close();
    }
  }

  @Test
  void portDownIsReportedAndFailsSendsUntilPortIsUp() throws IOException, InterruptedException {
    try (ConnectedPair couple = ConnectedPair.on(open())) {
      assertEquals(Status.SUCCESS, couple.write());
      undo.add("port 0/0 up");
      StandinControl.run("port 0/0 down");
      LibibverbsDevices.eventsUntil(couple.context(), Kind.PORT_ERROR);
      assertFalse(couple.context().port().active());
      assertEquals(Status.RETRY_EXCEEDED, couple.write());
      assertEquals(QueuePairState.ERROR, couple.left().qp.state());

      StandinControl.run("port 0/0 up");
      LibibverbsDevices.eventsUntil(couple.context(), Kind.PORT_ACTIVE);
      couple.left().qp.reset();
      couple.right().qp.reset();
      couple.connect();
      assertEquals(Status.SUCCESS, couple.write());
    }
  }

  @Test
  void movedAddressIsReportedAndFoundAtNewIndex() throws IOException, InterruptedException {
    try (DeviceContext context = open()) {
      List<GidTable.Entry> before = context.gidTable().entries();
      GidTable.Entry moved = before.get(GID_INDEX);
      undo.add("gid 0/0 %s %s".formatted(moved.index(), moved.gid()));
      undo.add("gid 0/0 9 none");
      StandinControl.run("gid 0/0 %s none".formatted(moved.index()));
      StandinControl.run("gid 0/0 9 " + moved.gid());
      LibibverbsDevices.eventsUntil(context, Kind.GID_CHANGE);
      GidTable after = context.gidTable();
      assertEquals(before.size(), after.entries().size());
      assertEquals(9, after.indexOf(moved.gid()).orElseThrow());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "IBV_WC_LOC_PROT_ERR, LOCAL_PROTECTION_ERROR",
    "IBV_WC_REM_ACCESS_ERR, REMOTE_ACCESS_ERROR",
    "IBV_WC_REM_OP_ERR, REMOTE_OPERATION_ERROR",
    "IBV_WC_RETRY_EXC_ERR, RETRY_EXCEEDED",
    "IBV_WC_GENERAL_ERR, GENERAL_ERROR"
  })
  void eachStatusIsTranslated(String injected, Status status)
      throws IOException, InterruptedException {
    try (ConnectedPair couple = ConnectedPair.on(open())) {
      StandinControl.run("fail 0/0 " + injected);
      assertEquals(status, couple.write());
    }
  }

  @Test
  void reportsFatalDeviceError() throws IOException, InterruptedException {
    try (DeviceContext context = open()) {
      StandinControl.run("event 0/0 IBV_EVENT_DEVICE_FATAL");
      LibibverbsDevices.eventsUntil(context, Kind.DEVICE_FATAL);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ibv_alloc_pd, alloc_pd, 1",
    "ibv_create_cq, create_cq, 1",
    "ibv_reg_mr, reg_mr, 1",
    "ibv_create_qp, create_qp, 2"
  })
  void failedVerbIsNamedAndLeavesNothingOpen(String refused, String verb, int times)
      throws IOException, InterruptedException {
    try (DeviceContext context = open()) {
      /*
       * If the device refuses a queue pair with inline payloads, the provider tries one without
       * them.
       */
      StandinControl.run("refuse 0/0 %s %s %s".formatted(refused, Errno.ENOMEM, times));
      VerbsException failure =
          assertThrows(VerbsException.class, () -> new Endpoint(context, GID_INDEX, 4096));
      assertEquals(verb, failure.verb());
      assertEquals(Errno.ENOMEM, failure.errno());
      assertTrue(
          String.valueOf(failure.getMessage()).contains("standin0"), String.valueOf(failure));
    }
  }

  @Test
  void queuePairWithoutInlineSupportIsCreatedWithoutIt() throws IOException, InterruptedException {
    try (DeviceContext context = open()) {
      StandinControl.run("refuse 0/0 ibv_create_qp " + Errno.EINVAL + " 1");
      try (Endpoint end = new Endpoint(context, GID_INDEX, 4096)) {
        assertEquals(0, end.qp.inlineBytes());
      }
      try (Endpoint end = new Endpoint(context, GID_INDEX, 4096)) {
        assertTrue(end.qp.inlineBytes() >= Endpoint.INLINE_BYTES);
      }
    }
  }

  @Test
  void skipsForbiddenDeviceWithRemedy() throws IOException, InterruptedException {
    int before = LibibverbsDevices.all(ledger).size();
    StandinControl.run("refuse 0/0 ibv_open_device " + Errno.EACCES + " 1");
    List<RdmaDevice> left = LibibverbsDevices.all(ledger);
    assertEquals(before - 1, left.size());
    assertTrue(
        left.stream().noneMatch(device -> device.name().equals("standin0")), left.toString());
  }

  @Test
  void aPortWithoutAddressesHasAnEmptyTable() throws IOException, InterruptedException {
    try (DeviceContext context = open()) {
      for (GidTable.Entry entry : context.gidTable().entries()) {
        undo.add("gid 0/0 %s %s".formatted(entry.index(), entry.gid()));
        StandinControl.run("gid 0/0 %s none".formatted(entry.index()));
      }
      assertEquals(List.of(), context.gidTable().entries());
      try (var pd = context.allocateProtectionDomain();
          var cq = context.createCompletionQueue(4);
          var qp = pd.createQueuePair(new QueuePairAttributes(cq, cq, 1, 1))) {
        assertThrows(VerbsException.class, () -> qp.initialise(GID_INDEX));
      }
    }
  }

  @Test
  void refusesUnmappedMemory() {
    try (DeviceContext context = open();
        var pd = context.allocateProtectionDomain()) {
      var access = EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE);
      VerbsException failure =
          assertThrows(VerbsException.class, () -> pd.registerMemory(4096, 4096, access));
      assertEquals(Errno.EFAULT, failure.errno());
    }
  }
}
