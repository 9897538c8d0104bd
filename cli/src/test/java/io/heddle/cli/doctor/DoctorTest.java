package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightRules;
import io.heddle.stats.DistinctErrors;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsFile.Direction;
import io.heddle.verbs.DeviceTrial;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of the doctor with real faults of the environment, of folders and of jobs. Faults of a
 * host's network are tested in system-tests.
 */
class DoctorTest extends ExaminedHost {
  @ParameterizedTest
  @CsvSource({
    "NCCL_IB_QPS_PER_CONNECTION=4,  queue-pairs-folklore",
    "NCCL_IB_TIMEOUT=22,            hang-long",
    "NCCL_IB_TIMEOUT=10,            timeout-short",
    "NCCL_IB_RETRY_CNT=3,           retries-few",
    "NCCL_CROSS_NIC=0,              cross-nic-off",
    "NCCL_IB_MERGE_NICS=1,          nics-merged",
    "NCCL_IB_ADAPTIVE_ROUTING=1,    adaptive-routing",
    "NCCL_IB_ECE_ENABLE=1,          ece",
    "NCCL_P2P_NET_CHUNKSIZE=131072, small-steps",
    "NCCL_BUFFSIZE=65536,           small-buffers",
    "NCCL_SHM_DISABLE=1,            direct-off",
    "NCCL_IB_RETRY_CNT=seven,       setting-malformed",
    "NCCL_SOCKET_IFNAME=nosuch0,    socket-interface"
  })
  void conflictingSettingIsReportedWithValueAndRemedy(String setting, String cause) {
    DoctorCommand.Entry entry = only(examine(environment(setting), new SettingsCheck()), cause);
    assertTrue(entry.evidence().contains(setting), entry.evidence());
    assertTrue(entry.remedy() != null && !entry.remedy().isBlank());
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_IB_TIMEOUT=18",
    "NCCL_IB_RETRY_CNT=7",
    "NCCL_BUFFSIZE=8388608",
    "NCCL_SOCKET_IFNAME=lo"
  })
  void harmlessSettingsAreOk(String setting) {
    for (DoctorCommand.Entry entry : examine(environment(setting), new SettingsCheck())) {
      assertEquals(DoctorCommand.Level.OK, entry.level(), entry.toString());
    }
  }

  @Test
  void pluginOutsideTheLinkersPathIsNotFound() {
    DoctorCommand.Entry entry =
        only(
            examine(
                environment("NCCL_NET_PLUGIN=heddle", "LD_LIBRARY_PATH=" + folder),
                new PluginCheck()),
            "plugin-not-found");
    assertTrue(entry.evidence().contains("libnccl-net-heddle.so"), entry.evidence());
    assertTrue(entry.remedy().contains(plugin.toString()), entry.remedy());
  }

  @Test
  void pluginIsFoundByNameByPathAndByDefaultName() throws Exception {
    Path other = Files.createDirectories(folder.resolve("link"));
    Files.createSymbolicLink(other.resolve("libnccl-net.so"), plugin);
    List<Map<String, String>> settings =
        List.of(
            environment("NCCL_NET_PLUGIN=heddle", "LD_LIBRARY_PATH=" + plugin.getParent()),
            environment("NCCL_NET_PLUGIN=" + plugin),
            environment("LD_LIBRARY_PATH=/nowhere:" + other),
            environment("NCCL_NET_PLUGIN=nosuch,heddle", "LD_LIBRARY_PATH=" + plugin.getParent()));
    for (Map<String, String> setting : settings) {
      DoctorCommand.Entry first = examine(setting, new PluginCheck()).getFirst();
      assertEquals(DoctorCommand.Level.OK, first.level(), first.toString());
    }
  }

  @Test
  void pluginFoundBeforeHeddleIsReported() throws Exception {
    Path other = Files.createFile(folder.resolve("libnccl-net.so"));
    DoctorCommand.Entry entry =
        only(examine(environment("LD_LIBRARY_PATH=" + folder), new PluginCheck()), "plugin-other");
    assertTrue(entry.evidence().contains(other.toString()), entry.evidence());
  }

  @Test
  void pluginWithoutItsJarIsIncomplete() throws Exception {
    Files.delete(plugin.resolveSibling("heddle-plugin.jar"));
    only(examine(environment("NCCL_NET_PLUGIN=" + plugin), new PluginCheck()), "plugin-incomplete");
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_NET_PLUGIN=none, plugin-disabled",
    "NCCL_NET=IB,          net-other",
    "NCCL_DEBUG=INFO,      silent-fallback",
    "HEDDLE_ONE_SIDED=yes, one-sided-setting"
  })
  void settingThatKeepsNcclFromThePluginIsReported(String setting, String cause) {
    only(examine(environment(setting), new PluginCheck()), cause);
  }

  @Test
  void javaHomeWithoutRuntimeIsAFault() {
    only(examine(environment("HEDDLE_JAVA_HOME=" + folder), new JavaCheck()), "java-home-wrong");
    String own = System.getProperty("java.home");
    DoctorCommand.Entry right =
        examine(environment("HEDDLE_JAVA_HOME=" + own), new JavaCheck()).getFirst();
    assertEquals(DoctorCommand.Level.OK, right.level(), right.toString());
  }

  /* The plugin follows the links of the first java in PATH too (jvm_find.c). */
  @Test
  void firstJavaInPathIsFollowedThroughItsLinks() throws Exception {
    Path bin = Files.createDirectory(folder.resolve("bin"));
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    Files.createSymbolicLink(bin.resolve("java"), own.resolve("bin/java"));
    DoctorCommand.Entry found =
        examine(environment("PATH=" + folder + ":" + bin), new JavaCheck()).getFirst();
    assertEquals(DoctorCommand.Level.OK, found.level(), found.toString());
    assertTrue(found.toString().contains("in " + own + " (PATH)"), found.toString());
  }

  @Test
  void optionsForOtherJavaProgramsAreReported() {
    Map<String, String> environment =
        environment(
            "HEDDLE_JAVA_HOME=" + System.getProperty("java.home"),
            "JAVA_TOOL_OPTIONS=-javaagent:/agent.jar=key",
            "JDK_JAVA_OPTIONS=-Xmx8m",
            "_JAVA_OPTIONS=");
    List<DoctorCommand.Entry> entries = examine(environment, new JavaCheck());
    assertEquals(2, entries.size(), entries::toString);
    DoctorCommand.Entry named = entries.getLast();
    assertEquals(DoctorCommand.Level.OK, named.level());
    assertTrue(
        named
                .toString()
                .contains("JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS are set for other Java programs")
            && !named.toString().contains("key"),
        named::toString);
  }

  @ParameterizedTest
  @CsvSource({
    "HEDDLE_PLANES=nonsense,            plane-rule-wrong, FAULT",
    "NCCL_IB_ADDR_FAMILY=AF_INETT,      plane-rule-wrong, WARNING",
    "HEDDLE_PLANES=fd77:77::/64=a,      plane-rule-wrong, WARNING",
    "HEDDLE_PLANES=fd77:77::/64=a,      no-plane,         FAULT"
  })
  void planeRulesThatMatchNothingAreReported(
      String setting, String cause, DoctorCommand.Level level) {
    assertEquals(level, only(examine(environment(setting), new PlanesCheck()), cause).level());
  }

  @Test
  void singlePlaneIsReported() {
    only(examine(environment("HEDDLE_PLANES=127.0.0.1=a"), new PlanesCheck()), "single-plane");
  }

  @Test
  void unreadableRoutesFileIsNoWrongPlaneRule() throws Exception {
    Files.write(routes(), new byte[8192]);
    List<DoctorCommand.Entry> entries =
        examine(environment("HEDDLE_PLANES=127.0.0.1=a"), new RoutesCheck(), new PlanesCheck());
    only(entries, "daemon-gone");
    assertEquals(List.of(), causes(entries, "plane-rule-wrong"));
  }

  private static final String TWO_PEERS =
      """
      as = 65001
      [peer a]
      interface = lo
      plane = a
      [peer b]
      interface = nosuch9
      plane = b
      """;

  @Test
  void configuredPlaneWithoutPortIsReported() throws Exception {
    config(TWO_PEERS);
    List<DoctorCommand.Entry> entries =
        examine(environment("HEDDLE_PLANES=127.0.0.1=a"), new RoutesCheck());
    DoctorCommand.Entry entry = only(entries, "planes-fewer-than-configured");
    assertEquals(1, causes(entries, "planes-fewer-than-configured").size(), entries.toString());
    assertEquals(
        config + " has plane:b, which this host lacks: there is no interface nosuch9",
        entry.evidence());
  }

  @Test
  void planeThatTheDaemonHasNotReadYetIsReported() throws Exception {
    config(TWO_PEERS);
    try (RoutePublisher publisher =
        RoutePublisher.create(routes(), "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM)) {
      publisher.setPlane(new PublishedPlane("plane:a", null, 0, "a test"));
      publisher.goLive();
      List<DoctorCommand.Entry> entries =
          examine(environment("HEDDLE_PLANES=127.0.0.1=a"), new RoutesCheck());
      DoctorCommand.Entry entry = only(entries, "planes-fewer-than-configured");
      assertEquals(
          config + " has plane:b, but the running daemon has only [plane:a]", entry.evidence());
      assertTrue(
          String.valueOf(entry.remedy()).contains("systemctl reload heddle-bgp"), entry.toString());
    }
  }

  @Test
  void malformedConfigurationIsReportedWithItsLine() throws Exception {
    config("as = 65001\nplanes = 4\n");
    DoctorCommand.Entry entry = only(examine(Map.of(), new RoutesCheck()), "daemon-config-wrong");
    assertTrue(entry.evidence().contains(config + " line 2"), entry.evidence());
    config = folder.resolve("nosuch.conf");
    only(examine(Map.of(), new RoutesCheck()), "daemon-config-wrong");
    config = null;
    assertEquals(List.of(), causes(examine(Map.of(), new RoutesCheck()), "daemon-config-wrong"));
  }

  @Test
  void missingNamedPlaneIsReported() {
    Map<String, String> environment =
        environment("HEDDLE_PLANES=127.0.0.1=a,127.0.0.2=b,fd77::/64=c");
    DoctorCommand.Entry entry =
        only(examine(environment, new PlanesCheck()), "planes-fewer-than-named");
    assertEquals(
        "HEDDLE_PLANES names planes [plane:a, plane:b, plane:c], and this host has no address on"
            + " [plane:c]",
        entry.evidence());
    assertEquals(
        List.of(),
        causes(
            examine(environment("HEDDLE_PLANES=127.0.0.1=a,fd77::/64=a"), new PlanesCheck()),
            "planes-fewer-than-named"));
  }

  @Test
  void noneMeansNoRoutesFile() {
    List<DoctorCommand.Entry> entries =
        examine(environment("HEDDLE_ROUTES=none", "HEDDLE_PLANES=127.0.0.1=a"), Checks.ALL);
    assertTrue(
        entries.stream()
            .anyMatch(entry -> entry.evidence().contains("all planes have the same weight")),
        entries.toString());
    assertEquals(List.of(), causes(entries, "plane-rule-wrong"));
  }

  @Test
  void planesHaveTheDaemonsNamesIfJobsFollowIt() throws Exception {
    Inet6Address own = (Inet6Address) InetAddress.getByName("::1");
    try (RoutePublisher publisher =
        RoutePublisher.create(routes(), "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM)) {
      publisher.setPlane(new PublishedPlane("colour:7", own, 0, "a test"));
      publisher.goLive();
      String rule = "HEDDLE_PLANES=::1=a";
      assertTrue(examine(environment(rule), new PlanesCheck()).toString().contains("colour:7"));
      for (String aside : List.of("HEDDLE_WEIGHTS=1", "HEDDLE_ROUTES=none")) {
        String found = examine(environment(rule, aside), new PlanesCheck()).toString();
        assertTrue(found.contains("plane:a: ") && !found.contains("colour:7"), found);
      }
    }
  }

  @Test
  void kernelFilesReadableOnceAreReadWhole() throws Exception {
    Path file = Path.of("/proc/sys/net/core/rmem_max");
    if (Files.exists(file)) {
      Process cat = new ProcessBuilder("cat", file.toString()).start();
      assertEquals(
          new String(cat.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8)
              .strip(),
          Host.text(file));
    }
  }

  @Test
  void faultyPlaneOfAJobIsReported() {
    try (StatsFile file = new StatsFile(folder.resolve("stats"), (level, sentence) -> {})) {
      DistinctErrors errors = new DistinctErrors((level, sentence) -> {});
      errors.publishTo(file);
      errors.warn(
          "plane a (fd00::1 QP 0x1 to fd00::2 QP 0x2): work request ended with RETRY_EXCEEDED"
              + " (12)");
      errors.warn("something else");
      PlaneCounters ill = file.open(Direction.SEND, "plane:ill", 1, "peer pid 1");
      PlaneCounters well = file.open(Direction.SEND, "plane:well", 1, "peer pid 1");
      for (int i = 0; i < 2000; i++) {
        ill.chunk(10_000);
        ill.acknowledged(10_000, 5_000_000);
        well.chunk(100_000);
        well.acknowledged(100_000, 50_000);
      }
      ill.resent(5000);
      ill.failover();
      ill.countMoved(1000);
      ill.chunk(60_000);
      /* Every finding must be about the plane with faults, plane:ill. */
      List<DoctorCommand.Entry> entries = examine(Map.of(), new JobsCheck());
      for (String cause : List.of("plane-slow", "job-failed-over", "job-stalled")) {
        assertTrue(only(entries, cause).evidence().contains("plane:ill"), cause);
      }
      assertEquals(DoctorCommand.Level.FAULT, only(entries, "error-12").level());
      assertTrue(only(entries, "share-off").evidence().contains("its weight says 50 %"));
      only(entries, "job-warned");
      for (int i = 0; i < 6000; i++) {
        ill.chunk(10_000);
        ill.acknowledged(10_000, 5_000_000);
      }
      assertTrue(
          only(examine(Map.of(), new JobsCheck()), "plane-lossy").evidence().contains("plane:ill"));
    }
  }

  @Test
  void jobThatCopiesAllItsTrainsIsReported() {
    try (StatsFile file = new StatsFile(folder.resolve("stats"), (level, sentence) -> {})) {
      file.setDeviceCounter("soft0/trains_zero_copy", 0);
      file.setDeviceCounter("soft0/trains_copied", 999);
      assertEquals(List.of(), causes(examine(Map.of(), new JobsCheck()), "trains-copied"));
      file.setDeviceCounter("soft0/trains_copied", 4711);
      DoctorCommand.Entry entry = only(examine(Map.of(), new JobsCheck()), "trains-copied");
      assertTrue(entry.evidence().contains("all of 4711"), entry.evidence());
      file.setDeviceCounter("soft0/trains_zero_copy", 1);
      assertEquals(List.of(), causes(examine(Map.of(), new JobsCheck()), "trains-copied"));
    }
  }

  @Test
  void slowedSoftDeviceIsReportedIfItCarriesThePlanes() {
    String sentence = "soft0: large trains of packets";
    List<DoctorCommand.Entry> here = examine(Map.of(), new DevicesCheck());
    assertEquals(
        1, here.stream().filter(entry -> entry.evidence().startsWith(sentence)).count(), "" + here);
    HostDevices.Device soft =
        HostDevices.read(Map.of()).devices().stream()
            .filter(device -> !device.isHardware())
            .findFirst()
            .orElseThrow();
    DeviceTrial trial = DeviceTrial.slower(sentence + " are copied", "a newer kernel");
    HostDevices.Device slowed =
        new HostDevices.Device(
            soft.provider(), soft.name(), soft.port(), soft.gids(), List.of(trial));
    HostDevices.Device card =
        new HostDevices.Device(
            HostDevices.LIBIBVERBS, "mlx5_0", soft.port(), soft.gids(), List.of());
    Finding.Warning warning = (Finding.Warning) aboutTrains(environment(), slowed);
    assertEquals("device-slowed", warning.cause().id());
    assertEquals("a newer kernel", warning.remedy());
    assertTrue(aboutTrains(environment(), slowed, card) instanceof Finding.Ok);
    assertTrue(
        aboutTrains(environment("HEDDLE_PROVIDER=soft"), slowed, card) instanceof Finding.Warning);
    DeviceTrial untried = DeviceTrial.untried(sentence);
    HostDevices.Device unknown =
        new HostDevices.Device(
            soft.provider(), soft.name(), soft.port(), soft.gids(), List.of(untried));
    assertTrue(aboutTrains(environment(), unknown) instanceof Finding.Unknown);
  }

  private Finding aboutTrains(Map<String, String> environment, HostDevices.Device... devices) {
    Host real =
        Host.read(
            environment, new Host.Places(plugin, routes(), folder.resolve("bgp.sock"), null, null));
    HostDevices found = new HostDevices(List.of(devices), List.of(), List.of());
    Host host =
        new Host(
            environment, real.addresses(), real.planes(), real.planesFault(), found, real.places());
    return new DevicesCheck()
        .run(host).stream()
            .filter(finding -> finding.evidence().contains("large trains"))
            .findFirst()
            .orElseThrow();
  }

  @Test
  void exitCodeIsThatOfTheWorstLevel() {
    Check check = new JavaCheck();
    Cause cause = check.causes().getFirst();
    DoctorCommand.Entry ok = DoctorCommand.Entry.of(check, new Finding.Ok(""));
    DoctorCommand.Entry unknown = DoctorCommand.Entry.of(check, new Finding.Unknown(""));
    DoctorCommand.Entry warning = DoctorCommand.Entry.of(check, new Finding.Warning(cause, "", ""));
    DoctorCommand.Entry fault = DoctorCommand.Entry.of(check, new Finding.Fault(cause, "", ""));
    assertEquals(0, DoctorCommand.Document.of(List.of(ok, unknown)).exitCode());
    assertEquals(1, DoctorCommand.Document.of(List.of(warning, ok)).exitCode());
    assertEquals(2, DoctorCommand.Document.of(List.of(fault, warning)).exitCode());
  }
}
