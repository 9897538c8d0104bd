package io.heddle.cli.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.Terminal;
import io.heddle.daemon.ControlSocket;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.platform.Log;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests of queries and orders to a running gateway, and of the live view. */
@EndsWithin(120)
final class GatewayCommandTest {
  private static final String HOST = "gateway";
  private static final List<String> CONFIG =
      """
      lan = lan
      [policy dc2]
      destination = fc00:2::/64
      [list sl1]
      policy = dc2
      id = 1
      segments = 5f00:0:1::1, 5f00:0:99::d6
      device = w1
      [list sl2]
      policy = dc2
      id = 2
      segments = 5f00:0:2::1, 5f00:0:99::d6
      device = w2
      """
          .lines()
          .toList();

  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    CommandLine line = new CommandLine(new GatewayCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.setExecutionExceptionHandler((failed, command, parsed) -> {
      err.append(failed.getMessage());
      return 1;
    });
    return line.execute(words);
  }

  private static NetworkNamespaces network() throws Exception {
    Requirements.namespaces();
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    NetworkTopology topology = new NetworkTopology().node(HOST, "net.ipv6.conf.all.forwarding=1");
    for (String name : List.of("lan", "w1", "w2")) {
      topology.link(HOST + " " + name, HOST + " far" + name);
    }
    return topology.create();
  }

  @Test
  void observerWithoutTelemetryGetsTheMissingKey() throws Exception {
    Path file = Files.writeString(folder.resolve("p.conf"), "telemetry-port = 9339\n");
    assertEquals(1, run("run", "--observe", "--config=" + file));
    assertTrue(err.toString().contains("add telemetry = ADDRESS"), err.toString());
    Files.writeString(file, "telemetry = ::1\n");
    assertEquals(1, run("check", "--observe", "--config=" + file));
    assertTrue(err.toString().contains("needs telemetry-certificate"), err.toString());
  }

  @Test
  void ordersAreAppliedShownAndRefused() throws Exception {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node(HOST);
      GatewayConfig config = GatewayConfigParser.parse("gateway.conf", String.join("\n", CONFIG));
      Path at = folder.resolve("gateway.sock");
      try (Gateway gateway = host.call(() -> Gateway.start(config, (level, sentence) -> {}));
          ControlSocket socket =
              ControlSocket.listen(
                  GatewayControl.DAEMON,
                  at,
                  new GatewayRequestHandler(gateway)::answer,
                  Log.toStandardError())) {
        String control = "--control=" + at;
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(at)));
        assertEquals(
            0,
            run("steer", "--destination=fc00:2::2", "--qp=0x11", "--list=sl2", control),
            err.toString());
        assertEquals("queue pair 17 of fc00:2::2 is steered to sl2", out.toString().strip());
        assertEquals(0, run("show", "rules", control));
        assertTrue(
            out.toString().matches("(?s).*fc00:2::2 +17  any +sl2 +yes +no +operator\n1 rules\n"),
            out.toString());
        assertEquals(0, run("show", "rules", "--json", control));
        GatewayStatus.Rules rules =
            Json.mapper().readValue(out.toString(), GatewayStatus.Rules.class);
        assertEquals(17, rules.rules().getFirst().queuePair());
        assertEquals(0, run("show", "peers", control));
        assertEquals("0 peers", out.toString().strip());
        assertEquals(0, run("show", "lists", control));
        assertTrue(out.toString().contains("5f00:0:2::1 5f00:0:99::d6"), out.toString());
        assertEquals(0, run("show", "flows", control));
        assertTrue(out.toString().endsWith("0 flows, 0 elephants (*)\n"), out.toString());

        assertEquals(1, run("steer", "--destination=fc00:2::2", "--qp=17", "--list=sl3", control));
        assertEquals("the gateway: there is no list sl3; did you mean sl1?", err.toString());
        assertEquals(1, run("steer", "--destination=fc00:3::2", "--qp=17", "--list=sl1", control));
        assertEquals(
            "the gateway: list sl1 belongs to policy dc2, which has no destination fc00:3::2",
            err.toString());
        assertEquals(1, run("steer", "--destination=fc00:2::2", "--qp=1", "--list=sl1", control));
        assertTrue(err.toString().contains("queue pair 1 is not in 2 to"), err.toString());
        assertEquals(0, run("release", "--destination=fc00:2::2", "--qp=17", control));
        assertEquals(1, run("release", "--destination=fc00:2::2", "--qp=17", control));
        assertTrue(err.toString().contains("there is no order for queue pair 17"), err.toString());
      }
    }
  }

  @Test
  void checkReportsFaultsOfTheHost() throws Exception {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node(HOST);
      Path file = folder.resolve("gateway.conf");
      Files.write(file, CONFIG);
      assertEquals(0, host.call(() -> run("check", "--config=" + file)), out.toString());
      assertEquals(file + " is valid: 1 policies, 2 segment lists", out.toString().strip());
      host.ip("link del w2");
      host.set(List.of("net.ipv6.conf.all.forwarding=0"));
      assertEquals(1, host.call(() -> run("check", "--config=" + file)));
      assertTrue(
          out.toString().contains("list sl2: there is no interface w2; did you mean w1?"),
          out.toString());
      assertTrue(
          out.toString().contains("sysctl -w net.ipv6.conf.all.forwarding=1"), out.toString());
    }
  }

  @Test
  void secondGatewayIsRefusedBeforeAnyChange() throws Exception {
    Path at = folder.resolve("gateway.sock");
    Path file = folder.resolve("gateway.conf");
    Files.write(file, CONFIG);
    Files.writeString(file, "control = " + at + "\n" + Files.readString(file));
    try (ControlSocket first =
        ControlSocket.listen(
            GatewayControl.DAEMON, at, question -> "\"answer\"", Log.toStandardError())) {
      assertEquals(1, run("run", "--config=" + file));
      assertEquals(
          "a gateway runs already and listens at " + at + "; end it first", err.toString());
      assertEquals("\"answer\"", ControlSocket.request(GatewayControl.DAEMON, at, "any").strip());
    }
  }

  @Test
  void gatewayWithoutControlSocketRemovesItsDataPlane() throws Exception {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node(HOST);
      Path file = folder.resolve("gateway.conf");
      Path taken = Files.writeString(folder.resolve("no-socket"), "mine");
      Files.write(file, CONFIG);
      Files.writeString(file, "control = " + taken + "\n" + Files.readString(file));
      Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
      try {
        assertEquals(1, host.call(() -> run("run", "--config=" + file)));
      } finally {
        Thread.setDefaultUncaughtExceptionHandler(before);
      }
      assertTrue(err.toString().contains("there is a file"), err.toString());
      assertEquals("", host.run("tc", "filter", "show", "dev", "lan", "ingress").strip());
    }
  }

  @Test
  void queryWithoutAGatewayExplainsHowToStartOne() {
    assertEquals(1, run("show", "lists", "--control=" + folder.resolve("none.sock")));
    assertTrue(
        err.toString().startsWith("no gateway answers at ")
            && err.toString().contains("start one with heddle gateway run"),
        err.toString());
  }

  @Test
  void liveViewFitsItsTerminalAndMarksElephantsAndDeadLists() {
    GatewayStatus.Flow fast =
        new GatewayStatus.Flow(
            "fc00:2::2",
            17,
            "fc00:1::1",
            50_000,
            "dc2",
            0,
            null,
            1 << 20,
            99,
            900_000_000,
            true,
            "sl2",
            "sl1",
            "operator",
            0x12345,
            "5f00:0:2::1",
            "t",
            "t");
    GatewayStatus.SegmentList busy =
        new GatewayStatus.SegmentList(
            2,
            "sl2",
            "dc2",
            true,
            null,
            1,
            256,
            List.of("5f00:0:2::1"),
            "w2",
            1420,
            99,
            1 << 20,
            900_000_000,
            1,
            0.0,
            125.0);
    GatewayStatus.SegmentList dead =
        new GatewayStatus.SegmentList(
            1,
            "sl1",
            "dc2",
            false,
            "w1 is down",
            1,
            0,
            List.of("5f00:0:1::1"),
            "w1",
            1420,
            0,
            0,
            0,
            0,
            null,
            null);
    GatewayStatus.Lists lists =
        new GatewayStatus.Lists(
            "t", false, new GatewayStatus.Traffic(99, 0, 99, 0, 0), List.of(dead, busy));
    GatewayStatus.Flows flows =
        new GatewayStatus.Flows("t", 30, java.util.Collections.nCopies(30, fast));
    List<String> lines =
        GatewayLiveView.lines(lists, flows, new Terminal(100, 12), Map.of("TERM", "xterm"));
    assertEquals(12, lines.size());
    assertTrue(lines.get(1).contains("DEAD: w1 is down"), lines.get(1));
    assertTrue(lines.get(2).contains("█".repeat(30)), lines.get(2));
    assertTrue(lines.getLast().contains("23 more than fit"), lines.getLast());
    for (String line : lines) {
      String plain = line.replaceAll("\u001b\\[[0-9]*m", "");
      assertTrue(plain.length() <= 100, plain);
    }
    List<String> wide =
        GatewayLiveView.lines(lists, flows, new Terminal(200, 99), Map.of("NO_COLOR", "1"));
    assertTrue(wide.get(2).contains("1 elephants  trip 125 us  loss 0.0%"), wide.get(2));
    assertTrue(
        wide.get(4)
            .matches("\\* +fc00:2::2 +17  fc00:1::1 +900Mb/s +1.00M  sl2 +sl1 +operator +0x12345"),
        wide.get(4));
  }
}
