package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.LabPlan;
import io.heddle.cli.lab.Labs;
import io.heddle.cli.lab.Skip;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Checkout;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Patience;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Two hosts with three planes in namespaces of their own, and one fault after the other made there.
 */
@EndsWithin(180)
@Execution(ExecutionMode.CONCURRENT)
class DoctorOnHostsTest {
  private static final Path STANDIN = Checkout.path("perf-tests/target/standin");
  private static final int PLANES = 3;

  @TempDir Path folder;

  private Lab lab;

  @BeforeEach
  void makeHosts() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
    Files.createDirectories(folder.resolve("stats"));
  }

  @AfterEach
  void removeHosts() {
    if (lab != null) {
      lab.close();
    }
  }

  private List<String> doctor(String... arguments) {
    List<String> command = new ArrayList<>(DoctorProgram.start());
    command.addAll(List.of("doctor", "--stats", folder.resolve("stats").toString()));
    command.addAll(List.of(arguments));
    return command;
  }

  private Process start(int host, Map<String, String> environment, List<String> command)
      throws Exception {
    ProcessBuilder builder = new ProcessBuilder(lab.command(host, command));
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("NCCL_") || name.startsWith("HEDDLE_"));
    builder.environment().put("HEDDLE_ROUTES", folder.resolve("routes").toString());
    builder.environment().putAll(environment);
    return builder.redirectError(folder.resolve("errors").toFile()).start();
  }

  private JsonNode examine(Map<String, String> environment, List<String> command) throws Exception {
    Process process = start(0, environment, command);
    String document = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = process.waitFor();
    JsonNode parsed = new ObjectMapper().readTree(document);
    assertTrue(
        exitCode <= 2 && parsed.has("findings"),
        document + Files.readString(folder.resolve("errors")));
    return parsed.path("findings");
  }

  private JsonNode examine(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--json"));
    all.addAll(List.of(arguments));
    return examine(Map.of(), doctor(all.toArray(new String[0])));
  }

  private String ip(int host, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    Process process =
        new ProcessBuilder(lab.command(host, command)).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + said);
    return said;
  }

  private static void expect(JsonNode findings, String level, String cause, String evidence) {
    for (JsonNode finding : findings) {
      if (finding.path("cause").asText().equals(cause)
          && finding.path("evidence").asText().contains(evidence)) {
        assertEquals(level, finding.path("level").asText(), finding.toString());
        assertTrue(!finding.path("remedy").asText().isBlank(), finding.toString());
        return;
      }
    }
    throw new AssertionError(
        cause + " with \"" + evidence + "\" isn't in " + findings.toPrettyString());
  }

  private static void expectNot(JsonNode findings, String cause) {
    for (JsonNode finding : findings) {
      assertTrue(!finding.path("cause").asText().equals(cause), finding.toString());
    }
  }

  @Test
  void addressesThatCannotCarryAreNamedWithTheirFlags() throws Exception {
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
  void anAddressOfTwoHostsIsADuplicateAndOneThatIsStillLookedForTentative() throws Exception {
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

  /* Duplicate detection takes a second, begins within another, and waits for the kernel's workers. */
  private void awaitDuplicate(String link) throws Exception {
    Patience patience = Patience.ofSeconds(30);
    while (ip(0, "-6", "addr", "show", "dev", link, "dadfailed").isBlank()) {
      assertTrue(!patience.isOver(), "no duplicate is found on " + link);
      Thread.sleep(50);
    }
  }

  @Test
  void linksOfUnlikeMtuAndFiltersThatLeaveAPlaneOutAreNamed() throws Exception {
    ip(0, "link", "set", "e2", "mtu", "1500");
    JsonNode findings = examine(Map.of("NCCL_IB_ADDR_RANGE", "fd00:1:1:2::/63"), doctor("--json"));
    expect(findings, "WARNING", "mtu-differs", "1500");
    expect(findings, "WARNING", "address-filter", LabPlan.address(0, 0));
  }

  /* Examines with a file system of its own, in which this script was run first. */
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
  void ipv6ThatIsOffIsAFault() throws Exception {
    expect(
        examineAfter("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6", Map.of()),
        "FAULT",
        "ipv6-off",
        "disable_ipv6 is 1");
  }

  @Test
  void sharedMemoryWithoutRoomIsNamed() throws Exception {
    expect(
        examineAfter("mount -t tmpfs -o size=1m none /dev/shm", Map.of()),
        "WARNING",
        "shm-small",
        "/dev/shm has 1 MiB");
  }

  /* The limit is the whole machine's, so the doctor's view of it is what is changed. */
  @Test
  void socketsThatMayHaveSmallBuffersOnlyAreNamedWithTheLimit() throws Exception {
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
  void devicesThatNoProgramCanOpenAreNamed() throws Exception {
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
  void aKernelOfOldIsNamedWithItsVersion() throws Exception {
    List<String> command = new ArrayList<>(List.of("setarch", "--uname-2.6"));
    command.addAll(doctor("--json"));
    expect(examine(Map.of(), command), "WARNING", "kernel-old", "kernel 2.6.");
  }

  /* The doctor itself runs on a Java that only it knows of: a package has its own runtime. */
  @Test
  void aHostWithoutJavaIsAFaultThatNamesWhereItWasLookedFor() throws Exception {
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

  /* A tap has the speed that it is told, unlike a veth pair, and a carrier while it is open. */
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
  void planesOfUnlikeSpeedsAreNamedUnlessSomethingWeighsThem() throws Exception {
    ip(0, "link", "add", "odd", "type", "bridge"); // says no speed: no plane is unlike by that
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

  private String errors() {
    try {
      return Files.readString(folder.resolve("errors"));
    } catch (java.io.IOException unreadable) {
      return unreadable.toString();
    }
  }

  private Process answerer(Map<String, String> environment) throws Exception {
    Process answering = start(1, environment, doctor("--answer"));
    BufferedReader said = answering.inputReader();
    for (int plane = 0; plane < PLANES; plane++) {
      String line = said.readLine();
      assertTrue(line != null && line.startsWith("answering on"), String.valueOf(line));
    }
    return answering;
  }

  @Test
  void eachPlaneToAPeerIsProbedAndTheIllOneNamed() throws Exception {
    Process answering = answerer(Map.of());
    try {
      JsonNode well = examine("--peer", LabPlan.address(1, 0));
      long carrying = 0;
      for (JsonNode finding : well) {
        carrying +=
            finding.path("evidence").asText().contains("carries 9000 bytes there and back") ? 1 : 0;
      }
      assertEquals(PLANES, carrying, well.toPrettyString());
      try (RoutePublisher publisher =
          RoutePublisher.create(
              folder.resolve("routes"), "a test", WeightRules.DEFAULT, 1000, NanoClock.SYSTEM)) {
        int plane = publisher.setPlane(new PublishedPlane("if:e2", null, 0, "nobody"));
        ByteBuffer remote =
            ByteBuffer.wrap(InetAddress.getByName(LabPlan.address(1, 1)).getAddress());
        publisher.begin();
        publisher.set(
            remote.getLong(0),
            remote.getLong(8),
            128,
            plane,
            RouteCell.of(WeightReason.UNREACHABLE, 0));
        publisher.commit();
        publisher.goLive();
        expect(examine("--peer", LabPlan.address(1, 0)), "WARNING", "plane-weightless", "if:e2 to");
      }
      ip(1, "link", "set", "e2", "mtu", "1500");
      ip(1, "-6", "route", "del", "fd00:1:1:3::/64", "dev", "e3");
      JsonNode ill = examine("--peer", LabPlan.address(1, 0));
      expect(ill, "FAULT", "plane-unreachable", LabPlan.address(1, 2));
      expect(ill, "FAULT", "mtu-blocked", "packets of 9000 bytes don't pass, those of 14");
      expect(examine("--peer", "fd00:1:1:1::dead"), "FAULT", "peer-silent", "fd00:1:1:1::dead");
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  @Test
  void portsThatAreDownOrCarryNoPlaneAreNamedBesideTheOthers() throws Exception {
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
  void anAddressOfAForeignPrefixIsNamed() throws Exception {
    ip(0, "-6", "addr", "flush", "dev", "e2", "scope", "global");
    ip(0, "-6", "addr", "add", "2001:db8:99::7/64", "dev", "e2", "nodad");
    expect(examine(), "WARNING", "prefix-foreign", "if:e2 has 2001:db8:99::7/64 on e2");
    expect(examine(), "WARNING", "prefix-foreign", "begin with fd00:1:1:");
  }

  @Test
  void planesThatTheRouteDaemonHasAndThisHostHasNotAreNamed() throws Exception {
    try (RoutePublisher publisher =
        RoutePublisher.create(
            folder.resolve("routes"), "a test", WeightRules.DEFAULT, 1000, NanoClock.SYSTEM)) {
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

  @Test
  void whereOnlyTheNamedAddressIsSilentTheOtherPlanesAreProbed() throws Exception {
    Process answering = answerer(Map.of());
    try {
      ip(1, "-6", "rule", "add", "from", LabPlan.address(1, 0), "prohibit");
      JsonNode one = examine("--peer", LabPlan.address(1, 0));
      expect(one, "FAULT", "peer-silent", "its other addresses were not asked");
      expectNot(one, "plane-unreachable");
      JsonNode two = examine("--peer", LabPlan.address(1, 0) + "," + LabPlan.address(1, 1));
      expectNot(two, "peer-silent");
      expect(two, "FAULT", "plane-unreachable", "if:e1, ");
      assertTrue(two.toString().contains("if:e2, "), two.toPrettyString());
      assertEquals(1, count(two, "plane-unreachable"), two.toPrettyString());
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  @Test
  void anAddressThatEndsAlikeOnAnotherPlaneIsAskedToo() throws Exception {
    List<String> planes = new ArrayList<>();
    for (int plane = 1; plane <= PLANES; plane++) {
      String address = "fd00:1:1:" + plane + "::b";
      ip(1, "-6", "addr", "add", address + "/64", "dev", "e" + plane, "nodad");
      planes.add(address + "=" + plane);
    }
    Process answering = answerer(Map.of("HEDDLE_PLANES", String.join(",", planes)));
    try {
      ip(1, "-6", "rule", "add", "from", "fd00:1:1:1::b", "prohibit");
      JsonNode findings =
          examine(
              Map.of("HEDDLE_PLANES", "e1=1,e2=2,e3=3"),
              doctor("--json", "--peer", "fd00:1:1:1::b"));
      expectNot(findings, "peer-silent");
      expect(findings, "FAULT", "plane-unreachable", "to fd00:1:1:1::b");
      assertEquals(1, count(findings, "plane-unreachable"), findings.toPrettyString());
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  private static int count(JsonNode findings, String cause) {
    int count = 0;
    for (JsonNode finding : findings) {
      count += finding.path("cause").asText().equals(cause) ? 1 : 0;
    }
    return count;
  }

  @Test
  void planesThatOneEndCallsOtherwiseAreNamed() throws Exception {
    Process answering = answerer(Map.of("HEDDLE_PLANES", "e1=one,e2=two,e3=three"));
    try {
      JsonNode findings =
          examine(
              Map.of("HEDDLE_PLANES", "e1=one,e2=two,e3=drei"),
              doctor("--json", "--peer", LabPlan.address(1, 0)));
      expect(
          findings,
          "WARNING",
          "planes-unpaired",
          "plane:drei (here only), plane:three (there only)");
      expect(examine("--peer", LabPlan.address(1, 0)), "FAULT", "no-common-plane", "plane:one");
    } finally {
      answering.destroy();
      answering.waitFor();
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
  void devicesWhoseTablesLackAddressesAreNamed() throws Exception {
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
  void portsThatAreDownAreAFaultWhenNoneIsLeft() throws Exception {
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
  void aDeviceThatRefusesToBeOpenedOrAskedIsNamedAndTheOthersAreLookedAt() throws Exception {
    Map<String, String> two = standin(LabPlan.address(0, 0) + ";" + LabPlan.address(0, 1));
    control(two, "create");
    try {
      control(two, "host", "0");
      control(two, "refuse", "0/0", "ibv_open_device", "13", "100"); // EACCES
      JsonNode closed = examine(two, doctor("--json", "--all"));
      expect(closed, "WARNING", "device-refused", "standin0");
      assertTrue(closed.toString().contains("standin1 of libibverbs: port 1 active"));
      control(two, "refuse", "0/1", "ibv_query_port", "5", "100"); // EIO, of a device that opens
      expect(examine(two, doctor("--json")), "WARNING", "device-refused", "standin1");
    } finally {
      control(two, "remove");
    }
  }

  @Test
  void aSmallLimitOfLockedMemoryIsAFaultWithADeviceOnly() throws Exception {
    List<String> limited =
        new ArrayList<>(
            List.of("prlimit", "--memlock=65536", "setpriv", "--bounding-set", "-ipc_lock"));
    limited.addAll(doctor("--json"));
    expectNot(examine(Map.of(), limited), "locked-memory");
    expect(examine(standin(LabPlan.address(0, 0)), limited), "FAULT", "locked-memory", "64 KiB");
  }

  @Test
  void aProviderWithoutDevicesIsAFaultWhereItIsAskedFor() throws Exception {
    expect(
        examine(Map.of("HEDDLE_PROVIDER", "libibverbs"), doctor("--json")),
        "FAULT",
        "no-device",
        "libibverbs");
  }

  @Test
  void aRouteDaemonWithoutSessionsAndOneThatDiedAreNamed() throws Exception {
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
      Patience patience = Patience.ofSeconds(30);
      while (!(Files.exists(folder.resolve("routes")) && Files.exists(control))
          && !patience.isOver()) {
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
    Thread.sleep(2000); // of silence
    expect(examine("--control", control.toString()), "FAULT", "daemon-gone", "silent");
  }
}
