package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Checkout;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightRules;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Skip;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests of the doctor on two hosts with three planes in their own network namespaces. Each test has
 * one fault.
 */
@EndsWithin(180)
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
class DoctorOnHostsTest extends OnTwoHosts {
  private static final Path STANDIN = Checkout.path("perf-tests/target/standin");

  @Test
  void unusableAddressesAreReportedWithTheirFlags() throws Exception {
    ip(0, "-6", "addr", "change", LabPlan.address(0, 0) + "/64", "dev", "e1", "preferred_lft", "0");
    ip(1, "link", "set", "e2", "down");
    ip(0, "-6", "addr", "del", LabPlan.address(0, 2) + "/64", "dev", "e3");
    ip(1, "-6", "addr", "add", "fd00:99::7/64", "dev", "e3", "nodad");
    ip(0, "-6", "addr", "add", "fd00:99::7/64", "dev", "e1");
    JsonNode findings = examine();
    expect(findings, "WARNING", "address-deprecated", "e1");
    expect(findings, "WARNING", "link-down", "e2");
    expect(findings, "WARNING", "only-link-local", "e3");
    ip(0, "-6", "addr", "flush", "dev", "e1");
    expect(examine(), "FAULT", "no-plane", "none usable");
  }

  @Test
  void duplicateAndTentativeAddressesAreReported() throws Exception {
    Process slow =
        start(
            0, Map.of(), List.of("sh", "-c", "echo 60 >/proc/sys/net/ipv6/conf/e1/dad_transmits"));
    assertEquals(0, slow.waitFor());
    ip(0, "-6", "addr", "add", "fd00:98::7/64", "dev", "e1");
    expect(examine(), "WARNING", "address-tentative", "fd00:98::7");
    ip(1, "-6", "addr", "add", "fd00:99::7/64", "dev", "e3", "nodad");
    ip(0, "-6", "addr", "add", "fd00:99::7/64", "dev", "e3");
    awaitDuplicate("e3");
    expect(examine(), "FAULT", "address-duplicate", "fd00:99::7");
  }

  /*
   * Waits until the kernel has found an address to be a duplicate. Detection takes a second, begins
   * up to a second late, and the kernel's workers may delay it further.
   */
  private void awaitDuplicate(String link) throws Exception {
    Deadline deadline = Deadline.ofSeconds(30);
    while (ip(0, "-6", "addr", "show", "dev", link, "dadfailed").isBlank()) {
      assertTrue(!deadline.isOver(), "no duplicate is found on " + link);
      Thread.sleep(50);
    }
  }

  @Test
  void unequalMtusAndExcludingFiltersAreReported() throws Exception {
    ip(0, "link", "set", "e2", "mtu", "1500");
    JsonNode findings = examine(Map.of("NCCL_IB_ADDR_RANGE", "fd00:1:1:2::/63"), doctor("--json"));
    expect(findings, "WARNING", "mtu-differs", "1500");
    expect(findings, "WARNING", "address-filter", LabPlan.address(0, 0));
  }

  /* Runs a script and then the doctor in a mount namespace of their own. */
  private JsonNode examineAfter(String script, Map<String, String> environment, String... arguments)
      throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("unshare", "--mount", "sh", "-e", "-c", script + "\nexec \"$@\"", "sh"));
    List<String> all = new ArrayList<>(List.of("--json"));
    all.addAll(List.of(arguments));
    command.addAll(doctor(all.toArray(new String[0])));
    return examine(environment, command);
  }

  @Test
  void disabledIpv6IsAFault() throws Exception {
    expect(
        examineAfter("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6", Map.of()),
        "FAULT",
        "ipv6-off",
        "disable_ipv6 is 1");
  }

  @Test
  void smallSharedMemoryIsReported() throws Exception {
    expect(
        examineAfter("mount -t tmpfs -o size=1m none /dev/shm", Map.of()),
        "WARNING",
        "shm-small",
        "/dev/shm has 1 MiB");
  }

  /*
   * The limit applies to the whole machine, so the test changes only the file in which the doctor
   * reads it.
   */
  @Test
  void smallSocketBuffersAreReportedWithTheLimit() throws Exception {
    String view = "mount -t tmpfs none /proc/sys/net/core; echo %d >/proc/sys/net/core/rmem_max";
    expect(
        examineAfter(String.format(Locale.ROOT, view, 212_992), Map.of()),
        "WARNING",
        "socket-buffers-small",
        "net.core.rmem_max is 212992 bytes");
    expectNot(
        examineAfter(String.format(Locale.ROOT, view, 16 << 20), Map.of()), "socket-buffers-small");
  }

  @Test
  void devicesWithoutUverbsAreReported() throws Exception {
    String devices =
        "mount -t tmpfs none /sys/class; mkdir -p /sys/class/infiniband/mlx5_0;"
            + " mount -t tmpfs none /dev; mkdir /dev/infiniband; mknod /dev/null c 1 3;"
            + " mknod /dev/random c 1 8; mknod /dev/urandom c 1 9;";
    expect(
        examineAfter(devices, Map.of()),
        "WARNING",
        "uverbs-missing",
        "/sys/class/infiniband has mlx5_0, and /dev/infiniband has no uverbs*");
    expectNot(
        examineAfter(devices + "mknod /dev/infiniband/uverbs0 c 231 192", Map.of()),
        "uverbs-missing");
  }

  @Test
  void oldKernelIsReportedWithItsVersion() throws Exception {
    List<String> command = new ArrayList<>(List.of("setarch", "--uname-2.6"));
    command.addAll(doctor("--json"));
    expect(examine(Map.of(), command), "WARNING", "kernel-old", "kernel 2.6.");
  }

  /*
   * The plugin's search must find no Java. The doctor itself needs Java, so it runs on the same
   * Java under another path, which the plugin doesn't search.
   */
  @Test
  void missingJavaIsAFaultThatListsTheSearchedPlaces() throws Exception {
    Path hidden = Files.createDirectory(folder.resolve("hidden"));
    String script =
        "mount --bind %s %s; if [ -d /usr/lib/jvm ]; then mount -t tmpfs none /usr/lib/jvm; fi;"
            .formatted(System.getProperty("java.home"), hidden);
    List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-e", "-c"));
    command.addAll(List.of(script + "exec \"$@\"", "sh"));
    Path plugin = folder.resolve("libnccl-net-heddle.so");
    List<String> doctor = doctor("--json", "--plugin", plugin.toString());
    String java = System.getProperty("java.home") + "/bin/java";
    assertTrue(doctor.contains(java), doctor.toString());
    doctor.replaceAll(word -> word.equals(java) ? hidden + "/bin/java" : word);
    command.addAll(doctor);
    expect(
        examine(Map.of("JAVA_HOME", "/nowhere"), command),
        "FAULT",
        "java-missing",
        "no runtime of Java 25 beside " + plugin + ", in JAVA_HOME=/nowhere");
    expectNot(examine(Map.of("JAVA_HOME", hidden.toString()), command), "java-missing");
  }

  /*
   * Perl program that creates an interface with a set speed. The interface is a tap: unlike a veth
   * pair, a tap has the speed that is set, and a carrier while it is open.
   */
  private static final String SLOW_LINK =
      """
      use strict; use Fcntl; use Socket;
      sysopen(my $tap, '/dev/net/tun', O_RDWR) or die "/dev/net/tun: $!";
      my $asked = pack('Z16 S x22', 'slow', 0x1002);             # IFF_TAP | IFF_NO_PI
      ioctl($tap, 0x400454ca, $asked) or die "TUNSETIFF: $!";
      socket(my $socket, AF_INET, SOCK_DGRAM, 0) or die "socket: $!";
      my $speed = pack('L3 S x26', 2, 0, 0, 1000);               # ETHTOOL_SSET, 1000 Mbit/s
      my $request = pack('Z16 P x16', 'slow', $speed);
      ioctl($socket, 0x8946, $request) or die "SIOCETHTOOL: $!";
      system('ip link set slow up && ip addr add fd00:77::1/64 dev slow nodad') == 0 or die;
      $| = 1; print "up\n"; <STDIN>;
      """;

  @Test
  void planesOfUnequalSpeedAreReportedUnlessWeighted() throws Exception {
    /* A bridge without ports reports no speed, so its plane isn't compared. */
    ip(0, "link", "add", "odd", "type", "bridge");
    ip(0, "link", "set", "odd", "up");
    ip(0, "-6", "addr", "add", "fd00:78::1/64", "dev", "odd", "nodad");
    expectNot(examine(), "unequal-planes");
    Process link = start(0, Map.of(), List.of("perl", "-e", SLOW_LINK));
    try {
      String said = link.inputReader().readLine();
      assertEquals("up", said, () -> errors());
      expect(examine(), "WARNING", "unequal-planes", "links of [1000, 10000] Mbit/s");
      expectNot(
          examine(Map.of("HEDDLE_WEIGHTS", "10,10,10,1"), doctor("--json")), "unequal-planes");
    } finally {
      link.destroy();
      link.waitFor();
    }
  }

  @Test
  void portsThatAreDownOrCarryNoPlaneAreReported() throws Exception {
    JsonNode well = examine();
    expectNot(well, "plane-port-down");
    expectNot(well, "port-without-plane");
    expectNot(well, "prefix-foreign");
    ip(0, "link", "set", "e2", "down");
    JsonNode down = examine();
    expect(down, "WARNING", "plane-port-down", "e2 is like e1, e3");
    expect(down, "WARNING", "plane-port-down", "it is set down");
    ip(0, "link", "set", "e2", "up");
    ip(1, "link", "set", "e2", "down");
    ip(0, "-6", "addr", "flush", "dev", "e3");
    JsonNode one = examine();
    expect(one, "WARNING", "plane-port-down", "it has no carrier");
    expect(one, "WARNING", "port-without-plane", "e3 is like e1, which carries a plane");
    expectNot(examine(Map.of("HEDDLE_PLANES", "e1=one"), doctor("--json")), "plane-port-down");
  }

  @Test
  void foreignPrefixIsReported() throws Exception {
    ip(0, "-6", "addr", "flush", "dev", "e2", "scope", "global");
    ip(0, "-6", "addr", "add", "2001:db8:99::7/64", "dev", "e2", "nodad");
    expect(examine(), "WARNING", "prefix-foreign", "if:e2 has 2001:db8:99::7/64 on e2");
    expect(examine(), "WARNING", "prefix-foreign", "begin with fd00:1:1:");
  }

  @Test
  void planesThatShareAWireAreReported() throws Exception {
    expectNot(examine(), "planes-share-a-wire");
    ip(0, "link", "add", "link", "e2", "name", "m2", "type", "macvlan", "mode", "bridge");
    ip(0, "link", "set", "m2", "up");
    ip(0, "-6", "addr", "add", "fd00:1:1:99::7/64", "dev", "m2", "nodad");
    expect(examine(), "WARNING", "planes-share-a-wire", "if:e2, if:m2 are on one wire, e2:");
  }

  @Test
  void planesOfTheRouteDaemonMissingHereAreReported() throws Exception {
    try (RoutePublisher publisher =
        RoutePublisher.create(
            folder.resolve("routes"), "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM)) {
      for (String key : List.of("if:e1", "if:e2", "if:e9")) {
        publisher.setPlane(new PublishedPlane(key, null, 0, "nobody"));
      }
      publisher.goLive();
      JsonNode findings = examine();
      expect(findings, "WARNING", "planes-fewer-than-routes", "if:e9 has no address here");
      expect(findings, "WARNING", "plane-without-routes", "no routes for if:e3");
      expectNot(
          examine(Map.of("HEDDLE_WEIGHTS", "1,1,1"), doctor("--json")), "planes-fewer-than-routes");
    }
  }

  private Map<String, String> standin(String gids) {
    if (!Files.exists(STANDIN.resolve("libibverbs.so.1"))) {
      Skip.because("the stand-in for libibverbs isn't built");
    }
    return Map.of(
        "LD_LIBRARY_PATH",
        STANDIN.toAbsolutePath().toString(),
        "STANDIN_FABRIC",
        folder.resolve("fabric").toString(),
        "STANDIN_GIDS",
        gids,
        "STANDIN_DEVICES",
        Integer.toString(gids.split(";").length),
        "NCCL_IB_GID_INDEX",
        "3",
        "NCCL_IB_HCA",
        "=mlx5_9");
  }

  @Test
  void gidTablesWithoutNeededAddressesAreReported() throws Exception {
    String first = LabPlan.address(0, 0);
    JsonNode findings =
        examine(standin(first + ",-," + LabPlan.address(0, 1) + ";-"), doctor("--json"));
    expect(findings, "FAULT", "gid-link-local", "standin1");
    expect(findings, "WARNING", "gid-missing", LabPlan.address(0, 2));
    expect(findings, "WARNING", "gid-table-sparse", "standin0");
    expect(findings, "WARNING", "gid-index-fixed", "NCCL_IB_GID_INDEX=3: standin0 has");
    expect(findings, "FAULT", "hca-names-nothing", "standin0, standin1");
  }

  private void control(Map<String, String> environment, String... words) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(STANDIN.resolveSibling("standin-control").toString()));
    command.addAll(List.of(words));
    Process process = start(0, environment, command);
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), () -> command + ": " + said + errors());
  }

  @Test
  void downPortsAreAFaultIfNoneIsActive() throws Exception {
    Map<String, String> two = standin(LabPlan.address(0, 0) + ";" + LabPlan.address(0, 1));
    control(two, "create");
    try {
      control(two, "host", "0");
      expectNot(examine(two, doctor("--json")), "port-down");
      control(two, "port", "0/1", "down");
      JsonNode one = examine(two, doctor("--json"));
      expect(one, "WARNING", "port-down", "standin1 of libibverbs: port 1 down");
      control(two, "port", "0/0", "down");
      expect(examine(two, doctor("--json")), "FAULT", "port-down", "standin0");
    } finally {
      control(two, "remove");
    }
  }

  @Test
  void refusedDeviceIsReportedAndOthersAreChecked() throws Exception {
    Map<String, String> two = standin(LabPlan.address(0, 0) + ";" + LabPlan.address(0, 1));
    control(two, "create");
    try {
      control(two, "host", "0");
      /* The first device can't be opened: EACCES (13). */
      control(two, "refuse", "0/0", "ibv_open_device", "13", "100");
      JsonNode closed = examine(two, doctor("--json", "--all"));
      expect(closed, "WARNING", "device-refused", "standin0");
      assertTrue(closed.toString().contains("standin1 of libibverbs: port 1 active"));
      /* The second device opens, but the query of its port fails with EIO (5). */
      control(two, "refuse", "0/1", "ibv_query_port", "5", "100");
      expect(examine(two, doctor("--json")), "WARNING", "device-refused", "standin1");
    } finally {
      control(two, "remove");
    }
  }

  @Test
  void smallLockedMemoryLimitIsAFaultWithADeviceOnly() throws Exception {
    List<String> limited =
        new ArrayList<>(
            List.of("prlimit", "--memlock=65536", "setpriv", "--bounding-set", "-ipc_lock"));
    limited.addAll(doctor("--json"));
    expectNot(examine(Map.of(), limited), "locked-memory");
    expect(examine(standin(LabPlan.address(0, 0)), limited), "FAULT", "locked-memory", "64 KiB");
  }

  @Test
  void requestedProviderWithoutDevicesIsAFault() throws Exception {
    expect(
        examine(Map.of("HEDDLE_PROVIDER", "libibverbs"), doctor("--json")),
        "FAULT",
        "no-device",
        "libibverbs");
  }

  @Test
  void routeDaemonWithoutSessionsOrDeadIsReported() throws Exception {
    Path control = folder.resolve("sock");
    Path config =
        Files.writeString(
            folder.resolve("bgp.conf"),
            "as = 65001\npublish = %s\ncontrol = %s\npublish-after-ms = 100\n[peer leaf]\naddress = %s\nas = 65002\nplane = a\n"
                .formatted(folder.resolve("routes"), control, LabPlan.address(1, 0)));
    List<String> command = doctor();
    List<String> run = new ArrayList<>(command.subList(0, command.indexOf("doctor")));
    run.addAll(List.of("bgp", "run", "--config", config.toString()));
    Process daemon = start(0, Map.of(), run);
    try {
      Deadline deadline = Deadline.ofSeconds(30);
      while (!(Files.exists(folder.resolve("routes")) && Files.exists(control))
          && !deadline.isOver()) {
        Thread.sleep(50);
      }
      JsonNode findings =
          examine(
              Map.of("HEDDLE_WEIGHTS", "1,2,3"), doctor("--json", "--control", control.toString()));
      expect(findings, "WARNING", "session-down", "leaf");
      expect(findings, "WARNING", "weights-fixed", "1,2,3");
      expect(examine("--control", "/nowhere"), "WARNING", "daemon-mute", "/nowhere");
    } finally {
      daemon.destroyForcibly();
      daemon.waitFor();
    }
    /* The dead daemon must have been silent for a while. */
    Thread.sleep(2000);
    expect(examine("--control", control.toString()), "FAULT", "daemon-gone", "silent");
  }
}
