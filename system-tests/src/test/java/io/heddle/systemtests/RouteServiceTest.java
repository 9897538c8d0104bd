package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the shipped systemd units with systemd-analyze, and of the route daemon under the
 * restrictions of its unit.
 */
@EndsWithin(240)
@SystemTest
final class RouteServiceTest {
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final String DAEMON = "heddle-bgp";
  private static final String EXPORTER = "heddle-exporter";
  private static final String BRIDGE = "heddle-bridge";
  private static final List<String> UNITS = List.of(DAEMON, EXPORTER, BRIDGE);
  private static final double MOST_EXPOSURE = 2.0;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {DAEMON, EXPORTER, BRIDGE})
  void systemdAcceptsUnit(String unit) throws Exception {
    ShippedUnit.requireSystemd();
    assertEquals(List.of(), warnings(unit, ShippedUnit.text(unit)));
  }

  @Test
  void systemdCheckFindsUnknownSetting() throws Exception {
    ShippedUnit.requireSystemd();
    String unit = ShippedUnit.text(DAEMON);
    String misspelt = unit.replace("RuntimeDirectoryPreserve=", "RuntimeDirectoryKeep=");
    assertNotEquals(unit, misspelt);
    List<String> complaints = warnings(DAEMON, misspelt);
    assertTrue(
        complaints.stream().anyMatch(each -> each.contains("RuntimeDirectoryKeep")),
        complaints.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {DAEMON, EXPORTER, BRIDGE})
  void exposureIsSmallAndDocumented(String unit) throws Exception {
    ShippedUnit.requireSystemd();
    String output =
        systemd(
            "security",
            "--offline=true",
            "--no-pager",
            write(unit, ShippedUnit.text(unit)).toString());
    Matcher level = Pattern.compile("Overall exposure level for \\S+: ([0-9.]+)").matcher(output);
    assertTrue(level.find(), output);
    assertTrue(Double.parseDouble(level.group(1)) <= MOST_EXPOSURE, output);
    String page = Files.readString(REPOSITORY.resolve("docs/security.md"));
    Matcher told =
        Pattern.compile("exposure is ([0-9.]+), ([0-9.]+) and ([0-9.]+) of 10").matcher(page);
    assertTrue(told.find(), "the page names the exposure of all units");
    /* Versions of systemd compute the exposure score differently, hence the tolerance. */
    assertEquals(
        Double.parseDouble(told.group(1 + UNITS.indexOf(unit))),
        Double.parseDouble(level.group(1)),
        0.5);
  }

  @Test
  void unitsMatchSecurityPage() throws Exception {
    Map<String, List<String>> rows = rows();
    Map<String, String> daemon = settings(ShippedUnit.text(DAEMON));
    Map<String, String> exporter = settings(ShippedUnit.text(EXPORTER));
    Map<String, String> bridge = settings(ShippedUnit.text(BRIDGE));
    assertEquals(
        rows.get("capabilities, and no others ever").get(0), daemon.get("CapabilityBoundingSet"));
    assertEquals(daemon.get("CapabilityBoundingSet"), daemon.get("AmbientCapabilities"));
    assertEquals("", exporter.get("CapabilityBoundingSet"));
    assertEquals("", exporter.get("AmbientCapabilities"));
    assertEquals(rows.get("sockets").get(0), daemon.get("RestrictAddressFamilies"));
    assertEquals(rows.get("sockets").get(1), exporter.get("RestrictAddressFamilies"));
    assertEquals(
        rows.get("capabilities, and no others ever").get(2), bridge.get("CapabilityBoundingSet"));
    assertEquals(bridge.get("CapabilityBoundingSet"), bridge.get("AmbientCapabilities"));
    assertEquals(rows.get("sockets").get(2), bridge.get("RestrictAddressFamilies"));
    assertEquals(rows.get("user").get(0), daemon.get("User") + " heddle.sysusers");
    assertEquals(rows.get("user").get(2), bridge.get("User") + " heddle.sysusers");
    assertEquals(rows.get("writes").get(2), "/run/" + bridge.get("RuntimeDirectory"));
    assertEquals("notify", bridge.get("Type"));
    assertEquals("yes", exporter.get("DynamicUser"));
    assertEquals("any", exporter.get("IPAddressDeny"));
    assertEquals("localhost", exporter.get("IPAddressAllow"));
    assertEquals(rows.get("writes").get(0), "/run/" + daemon.get("RuntimeDirectory"));
    assertEquals("yes", daemon.get("RuntimeDirectoryPreserve"));
    for (Map<String, String> unit : List.of(daemon, exporter, bridge)) {
      assertEquals("on-failure", unit.get("Restart"));
      assertEquals("0", unit.get("StartLimitIntervalSec"), "it starts again, however often");
      assertEquals("strict", unit.get("ProtectSystem"));
      assertEquals(
          "@system-service ~@privileged @resources" + (unit == bridge ? " sched_setaffinity" : ""),
          unit.get("SystemCallFilter"));
      for (String shared :
          ("NoNewPrivileges RestrictNamespaces RestrictSUIDSGID ProtectHome PrivateDevices"
                  + " PrivateTmp ProtectKernelTunables ProtectKernelModules")
              .split(" ")) {
        assertEquals("yes", unit.get(shared), shared);
      }
      assertEquals(null, unit.get("MemoryDenyWriteExecute"));
      assertEquals(unit == bridge ? "invisible" : null, unit.get("ProtectProc"));
    }
    String users = Files.readString(REPOSITORY.resolve("packaging/heddle.sysusers"));
    for (Map<String, String> unit : List.of(daemon, bridge)) {
      assertTrue(users.contains("\nu " + unit.get("User") + " - "), users);
    }
  }

  /*
   * Returns the rows of the table of units in docs/security.md, by their first cell. A row has the
   * backquoted words of its other three cells, one cell for each unit.
   */
  private static Map<String, List<String>> rows() throws IOException {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    String section =
        Files.readString(REPOSITORY.resolve("docs/security.md"))
            .split("## As services\n")[1]
            .split("\n## ")[0];
    for (String line : section.split("\n")) {
      String[] cells = line.split(" *\\| *");
      if (cells.length == 5) {
        rows.put(cells[1], List.of(quoted(cells[2]), quoted(cells[3]), quoted(cells[4])));
      }
    }
    return rows;
  }

  private static String quoted(String cell) {
    List<String> words = new ArrayList<>();
    Matcher word = Pattern.compile("`([^`]+)`").matcher(cell);
    while (word.find()) {
      words.add(word.group(1));
    }
    return String.join(" ", words);
  }

  private static Map<String, String> settings(String unit) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (String line : unit.split("\n")) {
      int equals = line.indexOf('=');
      if (!line.startsWith("#") && equals > 0) {
        settings.merge(
            line.substring(0, equals), line.substring(equals + 1), (one, two) -> one + " " + two);
      }
    }
    return settings;
  }

  @Test
  void daemonWorksUnderUnitsRestrictions() throws Exception {
    ShippedUnit.requireSystemd();
    Skip.unlessFabric(false);
    FabricPlan plan =
        new FabricPlan(
            FabricShape.PLANES,
            0,
            1,
            2,
            2,
            List.of(1_000_000_000L, 1_000_000_000L),
            List.of(100, 300),
            9_000,
            20,
            6,
            0,
            false);
    String name = "rs" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    Fabric fabric = Fabric.up(name, plan, ProcessHandle.current().pid());
    Path runtime = Files.createDirectory(Path.of("/run", "heddle-" + name));
    try {
      underTheUnit(fabric, runtime);
    } finally {
      assertEquals(List.of(), Fabric.down(name));
      BareRoot.run(List.of("rm", "-rf", runtime.toString()));
    }
  }

  private void underTheUnit(Fabric fabric, Path runtime) throws Exception {
    List<String> confined = fabric.onHost(1, ShippedUnit.confined(DAEMON, runtime));
    String configuration =
        "as = 65001\n"
            + "[peer leaf1]\ninterface = e1\nplane = p1\nbfd-interval-ms = 300\n"
            + "[peer leaf2]\ninterface = e2\nplane = p2\n";
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.startBuilt(confined, runtime, configuration)) {
      daemon.awaitLog("weights are published");
      JsonNode neighbours =
          daemon.await(
              "both sessions",
              each ->
                  each.path("neighbours")
                      .findValuesAsText("state")
                      .equals(List.of("established", "established")),
              "neighbours");
      assertEquals(2, neighbours.path("planes").size());
      daemon.await(
          "weights by path bandwidth",
          each -> each.toString().contains("300 Gbit/s, path bandwidth"),
          "destination",
          fabric.address(2, 2));
      Map<String, String> status = ShippedUnit.status(daemon.pid());
      assertEquals(
          String.format(Locale.ROOT, "%1$d\t%1$d\t%1$d\t%1$d", ShippedUnit.USER),
          status.get("Uid"));
      assertEquals("1", status.get("NoNewPrivs"));
      assertEquals("2", status.get("Seccomp"), "a filter");
      /* CAP_NET_BIND_SERVICE is bit 10, CAP_NET_RAW bit 13. */
      for (String set : List.of("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")) {
        assertEquals("0000000000002400", status.get(set), set);
      }
      assertEquals(ShippedUnit.USER, Files.getAttribute(runtime.resolve("routes"), "unix:uid"));
      assertEquals("rw-r--r--", mode(runtime.resolve("routes")));
      BareRoot.run(List.of("kill", "-HUP", Long.toString(daemon.pid())));
      daemon.awaitLog("is read again");
      assertEquals(143, daemon.terminate(), daemon.log());
    }
  }

  private static String mode(Path file) throws IOException {
    return java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(file));
  }

  private Path write(String name, String unit) throws IOException {
    return ShippedUnit.write(folder.resolve(name + ".service"), unit);
  }

  /*
   * Returns systemd's warnings about this unit. Warnings about the host's own units are left out.
   */
  private List<String> warnings(String name, String unit) throws IOException, InterruptedException {
    return systemd("verify", "--man=no", write(name, unit).toString())
        .lines()
        .filter(line -> line.contains(name))
        .toList();
  }

  private static String systemd(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("systemd-analyze"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertTrue(Deadline.ofSeconds(60).awaitExit(process));
    return output;
  }
}
