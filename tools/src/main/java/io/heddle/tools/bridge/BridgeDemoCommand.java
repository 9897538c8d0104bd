package io.heddle.tools.bridge;

import io.heddle.bridge.peer.PeerSettings;
import io.heddle.cli.bridge.BridgeTable;
import io.heddle.cli.bridge.FabricHost;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The {@code bridge demo} command, with which a new user sees a bridge work. */
@Command(
    name = "demo",
    description = {
      "Two fabrics in network namespaces, three hosts each, and a bridge between them. Every host"
          + " sends numbered payloads to every group, and every other host checks what it"
          + " receives.",
      "With --failover: two bridges and one group. Its owner is drained, then the next one killed.",
      "Needs root, or the right to create network namespaces."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:Every payload was delivered once and intact. With --failover: none was duplicated.",
      "1:Otherwise; the report has the numbers."
    },
    mixinStandardHelpOptions = true)
public final class BridgeDemoCommand implements Callable<Integer> {
  private static final int MOST_HOSTS = 100;
  private static final int MOST_GROUPS = 400;
  private static final long MOST_PACKETS = 10_000_000;

  @Option(
      names = "--hosts",
      paramLabel = "N",
      defaultValue = "3",
      description = "Hosts of each fabric (${DEFAULT-VALUE}).")
  private int hosts;

  @Option(
      names = "--groups",
      paramLabel = "N",
      defaultValue = "4",
      description = "Multicast groups, IPv4 and IPv6 alternately (${DEFAULT-VALUE}).")
  private int groups;

  @Option(
      names = "--packets",
      paramLabel = "N",
      defaultValue = "5000",
      description = "Payloads of each host to each group (${DEFAULT-VALUE}).")
  private long packets;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      defaultValue = "320",
      description = "Bytes of each payload (${DEFAULT-VALUE}).")
  private int bytes;

  @Option(
      names = "--trains",
      description =
          "Hosts send eight payloads at once, and the bridge sends IPv4 packets as trains.")
  private boolean trains;

  @Option(
      names = "--failover",
      description = "Drain one of two bridges under load, and kill the other.")
  private boolean failover;

  @Option(names = "--json", description = "Print one JSON document instead of the report.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    OptionRange range = new OptionRange(spec);
    range.require("--hosts", hosts, 1, MOST_HOSTS);
    range.require("--groups", groups, 1, MOST_GROUPS);
    range.require("--packets", packets, 1, MOST_PACKETS);
    range.require("--bytes", bytes, FabricHost.LEAST_PAYLOAD_BYTES, FabricHost.MOST_PAYLOAD_BYTES);
    Optional<String> refusal = Labs.refusal(Lab.Kind.NAMESPACES);
    if (refusal.isPresent()) {
      throw new HeddleException(
          "the demo needs network namespaces: " + refusal.get() + "; run it as root");
    }
    if (failover) {
      return failover();
    }
    BridgeDemo.Plan plan = new BridgeDemo.Plan(hosts, groups, packets, bytes, trains);
    BridgeDemo.Report report = new BridgeDemo(plan).run(Lab.Kind.NAMESPACES);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(
        json
            ? Json.of(report) + System.lineSeparator()
            : report.table() + "\n" + BridgeTable.of(report.bridge()));
    out.flush();
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private int failover() throws IOException {
    FailoverDemo demo = new FailoverDemo(OwnCommandLine.asStarted(), PeerSettings.INTERVAL_MS);
    FailoverDemo.Report report = demo.run(Lab.Kind.NAMESPACES);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : report.table());
    out.flush();
    return report.passed() ? 0 : ExitCode.FAILED;
  }
}
