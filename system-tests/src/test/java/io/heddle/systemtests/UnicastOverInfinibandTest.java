package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.BridgeStatus.Direction;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of unicast datagrams over a bridge between an InfiniBand port of the stand-in for libibverbs
 * and an Ethernet interface. The bridge and the InfiniBand host resolve services through the test
 * double of librdmacm.
 *
 * <pre>
 * InfiniBand host ══ subnet ══ standin0 [the bridge] e1 ══ e1 wire host
 *  10.9.0.5                    10.9.0.1       10.1.0.1      10.1.0.2
 *  seen as 10.1.0.205                                       seen as 10.9.0.202
 * </pre>
 */
@EndsWithin(120)
@SystemTest
class UnicastOverInfinibandTest {
  private static final int BRIDGE = 0;
  private static final int WIRE_HOST = 1;
  private static final int WORDS = 200;
  private static final int LIMIT_SECONDS = 60;

  @TempDir private Path folder;
  private Lab lab;
  private HostProcess bridge;

  @BeforeEach
  void startSubnetAndBridge() throws Exception {
    BuildOutputs.standin();
    BuildOutputs.standinManager();
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 1500));
    for (int rank : List.of(BRIDGE, WIRE_HOST)) {
      LabAddress.add(lab, rank, "e1", "10.1.0." + (rank + 1) + "/24", folder);
    }
    LabAddress.add(lab, BRIDGE, "e1", "10.1.0.205/32", folder);
    StandinControl.run("create", standin(0, ""));
    Path config =
        Files.write(
            folder.resolve("bridge.conf"),
            List.of(
                "name = test\nstatus = " + status() + "\ncontrol = " + folder.resolve("control"),
                "[fabric a]\nkind = verbs\ndevice = standin0\naddress = 10.9.0.1",
                "[fabric b]\ninterface = e1\naddress = 10.1.0.1\nprefix = 10.1.0.0/24",
                "[unicast]\nmode = mapped\naddresses = proxied\nports = " + SubnetHost.PORT,
                "[proxy a 10.9.0.202]\nfor = 10.1.0.2",
                "[proxy b 10.1.0.205]\nfor = 10.9.0.5"));
    bridge =
        HostProcess.start(
            lab,
            BRIDGE,
            folder.resolve("bridge.log"),
            standin(0, "10.9.0.1,10.9.0.202"),
            HeddleRun.command("bridge", "run", "--config", config.toString()));
    bridge.awaitOutput("status at", LIMIT_SECONDS);
  }

  @AfterEach
  void end() throws Exception {
    try {
      if (bridge != null) {
        bridge.close();
      }
    } finally {
      if (lab != null) {
        lab.close();
      }
    }
  }

  private Path status() {
    return folder.resolve("status");
  }

  private Map<String, String> standin(int host, String addresses) {
    Map<String, String> environment = StandinHost.onInfiniband(folder, host);
    environment.put("STANDIN_IPOIB", addresses);
    return environment;
  }

  private HostProcess subnetHost(String... words) throws IOException {
    Path log = Files.createTempFile(folder, "subnet", ".log");
    List<String> command = HostProcess.java(UnicastHost.class, words);
    return HostProcess.start(lab, BRIDGE, log, standin(1, "10.9.0.5"), command);
  }

  private HostProcess wireHost(String... words) throws IOException {
    Path log = Files.createTempFile(folder, "wire", ".log");
    List<String> command = HostProcess.java(UnicastHost.class, words);
    return HostProcess.start(lab, WIRE_HOST, log, Map.of(), command);
  }

  private static void assertExitsCleanly(HostProcess host) throws Exception {
    assertEquals(0, host.exitCode(LIMIT_SECONDS), host::outputOrWhyNot);
  }

  @Test
  void hostsOfBothFabricsConnect() throws Exception {
    String words = Integer.toString(WORDS);
    try (HostProcess server =
        subnetHost("verbs", "standin0", "10.9.0.5", "serve", words, "10.9.0.202")) {
      server.awaitOutput("serving", LIMIT_SECONDS);
      try (HostProcess client = wireHost("wire", "e1", "10.1.0.2", "10.1.0.205", words)) {
        assertExitsCleanly(client);
      }
      assertExitsCleanly(server);
    }
    try (HostProcess server = wireHost("wire", "e1", "10.1.0.2", "serve", words)) {
      server.awaitOutput("serving", LIMIT_SECONDS);
      try (HostProcess client = subnetHost("verbs", "standin0", "10.9.0.5", "10.9.0.202", words)) {
        assertExitsCleanly(client);
      }
      assertExitsCleanly(server);
    }
    BridgeStatus status =
        ShownStatus.await(
            status(), bridge, LIMIT_SECONDS, now -> unicast(now, 0).forwarded() == 2L * WORDS);
    assertEquals(Map.of(), unicast(status, 0).drops());
    assertEquals(Map.of(), unicast(status, 1).drops());
    assertTrue(unicast(status, 1).forwarded() >= 2L * WORDS, status::toString);
  }

  private static Direction unicast(BridgeStatus status, int side) {
    return Objects.requireNonNull(status.unicast()).directions().get(side);
  }
}
