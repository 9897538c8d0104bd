package io.heddle.cli.bridge;

import io.heddle.addr.AddressText;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.NearestName;
import io.heddle.verbs.Gid;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The {@code bridge test} command: sends test datagrams to find out whether a bridge forwards
 * multicast groups.
 */
@Command(
    name = "test",
    description = {
      "Sends numbered datagrams to groups from one fabric, and reports by group and direction"
          + " whether they arrive in the other one, how many, and how late.",
      "With --from and --to it runs on one machine with an interface in both fabrics, and tests"
          + " both directions. Otherwise start --to on a host of one fabric, then --from on a host"
          + " of the other. Neither may be the bridge's machine.",
      "The datagrams have a queue key of their own, so the devices of group members drop them."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:Every group flows as configured. With --from alone: all datagrams were sent.",
      "1:At least one group doesn't, or the test failed.",
      "2:The command line is wrong; nothing was sent."
    },
    mixinStandardHelpOptions = true)
public final class BridgeTestCommand implements Callable<Integer> {
  private static final long MOST_COUNT = 10_000;
  private static final long MOST_RATE = 10_000;
  private static final int MOST_SECONDS = 3600;
  private static final long SECOND_NS = 1_000_000_000;
  private static final List<String> FABRICS = List.of("a", "b");

  @Parameters(
      paramLabel = "GROUP",
      arity = "0..*",
      description = "Groups to test; default: all of the configuration.")
  private List<String> groups = new ArrayList<>();

  @Option(
      names = "--from",
      paramLabel = "END",
      description = "Send from this interface, or address of this machine.")
  private @Nullable String from;

  @Option(
      names = "--to",
      paramLabel = "END",
      description = "Receive at this interface, or the one with this address.")
  private @Nullable String to;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The bridge's configuration, or a copy, for the groups and their directions. Without it"
              + " name groups, which should flow in both directions.")
  private @Nullable Path config;

  @Option(
      names = "--from-fabric",
      paramLabel = "a|b",
      description =
          "The sender's fabric. Required only where addresses and prefixes of the configuration"
              + " don't identify it.")
  private @Nullable String fromFabric;

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "20",
      description = "Datagrams to each group and direction (${DEFAULT-VALUE}).")
  private long count;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "200",
      description = "Datagrams per second in total (${DEFAULT-VALUE}).")
  private long rate;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      defaultValue = "100",
      description = "Bytes of each payload (${DEFAULT-VALUE}).")
  private int bytes;

  @Option(
      names = "--hops",
      paramLabel = "N",
      defaultValue = "1",
      description = "Time to live of the datagrams (${DEFAULT-VALUE}).")
  private int hops;

  @Option(
      names = "--queue-key",
      paramLabel = "N",
      defaultValue = "0x48454454",
      description =
          "Queue key (${DEFAULT-VALUE}). A fabric of kind verbs accepts 0x01234567 only; then the"
              + " group members receive the datagrams.")
  private String queueKey = "";

  @Option(
      names = "--patience",
      paramLabel = "SECONDS",
      defaultValue = "3",
      description = "Silence that ends the wait for datagrams (${DEFAULT-VALUE}).")
  private int patience;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "With --to alone: how long to wait for the sender (${DEFAULT-VALUE}).")
  private int wait;

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() {
    OptionRange range = new OptionRange(spec);
    range.require("--count", count, 1, MOST_COUNT);
    range.require("--rate", rate, 1, MOST_RATE);
    range.require("--bytes", bytes, TestDatagram.LEAST_BYTES, FabricHost.MOST_PAYLOAD_BYTES);
    range.require("--hops", hops, 1, 255);
    range.require("--patience", patience, 1, MOST_SECONDS);
    range.require("--wait", wait, 1, MOST_SECONDS);
    if (from == null && to == null) {
      throw range.refusal("say --from, --to, or both: an interface in a fabric");
    }
    GroupTestReport report = new GroupTest(plan(range)).run();
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : report.table());
    out.flush();
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private GroupTest.Plan plan(OptionRange range) {
    BridgeConfig bridge = config == null ? null : read(config);
    TestEnd sends = end(range, from);
    TestEnd receives = end(range, to);
    Map<String, GroupSettings> known = known(bridge);
    int fabric = fabricOfSender(range, bridge, sends, receives);
    List<TestedDirection> directions = new ArrayList<>();
    for (String name : groups.isEmpty() ? List.copyOf(known.keySet()) : groups) {
      GroupSettings settings = known.get(name);
      Gid group = settings == null ? address(range, bridge, name) : settings.address();
      FlowDirection direction = settings == null ? FlowDirection.BOTH : settings.direction();
      if (direction != FlowDirection.BOTH && fabric < 0) {
        throw range.refusal(
            "group "
                + name
                + " flows in one direction, and the configuration doesn't identify the sender's"
                + " fabric; say --from-fabric a or b");
      }
      for (TestEnd each : Stream.of(sends, receives).filter(Objects::nonNull).toList()) {
        if (!each.reaches(group)) {
          throw range.refusal(each + " has no address of the family of group " + name);
        }
      }
      String title = settings == null ? name : settings.name();
      directions.add(
          new TestedDirection(title, group, 0, fabric < 0 || direction.goesFrom(fabric)));
      if (sends != null && receives != null) {
        directions.add(
            new TestedDirection(title, group, 1, fabric < 0 || direction.goesFrom(1 - fabric)));
      }
    }
    if (directions.isEmpty()) {
      throw range.refusal("name groups, or the bridge's configuration by --config");
    }
    return new GroupTest.Plan(
        sends,
        receives,
        names(fabric, sends, receives),
        directions,
        count,
        bytes,
        rate,
        hops,
        queueKey(range),
        patience * SECOND_NS,
        wait * SECOND_NS);
  }

  private static List<String> names(
      int fabric, @Nullable TestEnd sends, @Nullable TestEnd receives) {
    return fabric >= 0
        ? List.of(FABRICS.get(fabric), FABRICS.get(1 - fabric))
        : List.of(
            sends == null ? "sender" : sends.interfaceName(),
            receives == null ? "receiver" : receives.interfaceName());
  }

  private int queueKey(OptionRange range) {
    try {
      return Integer.parseUnsignedInt(
          queueKey.startsWith("0x") ? queueKey.substring(2) : queueKey,
          queueKey.startsWith("0x") ? 16 : 10);
    } catch (NumberFormatException none) {
      throw range.refusal("--queue-key " + queueKey + " is no number of 32 bits");
    }
  }

  private static @Nullable TestEnd end(OptionRange range, @Nullable String text) {
    try {
      return text == null ? null : TestEnd.of(text);
    } catch (IllegalArgumentException none) {
      throw range.refusal(String.valueOf(none.getMessage()));
    }
  }

  /*
   * Reads the configuration without its key files: they are on the bridges' hosts only, and this
   * test needs no key.
   */
  private static BridgeConfig read(Path file) {
    String content = ConfigText.read(file).replaceAll("(?m)^[ \\t]*key-file[ \\t]*=.*", "");
    return BridgeConfigParser.parse(file.toString(), content);
  }

  /*
   * Returns the configured groups by name, in the order of the file; empty without a configuration.
   */
  private static Map<String, GroupSettings> known(@Nullable BridgeConfig bridge) {
    Map<String, GroupSettings> known = new LinkedHashMap<>();
    if (bridge != null) {
      bridge.groups().forEach(each -> known.put(each.name(), each));
    }
    return known;
  }

  private static Gid address(OptionRange range, @Nullable BridgeConfig bridge, String name) {
    if (bridge != null) {
      throw range.refusal(
          "no group of the configuration is named "
              + name
              + NearestName.suggestion(name, List.copyOf(known(bridge).keySet())));
    }
    InetAddress address = AddressText.parse(name);
    if (address == null || !MgidFormat.isMulticast(Gid.of(address))) {
      throw range.refusal(name + " is no multicast address");
    }
    return Gid.of(address);
  }

  /* Returns the index of the sender's fabric, 0 or 1; -1 if the fabric is unknown. */
  private int fabricOfSender(
      OptionRange range,
      @Nullable BridgeConfig bridge,
      @Nullable TestEnd sends,
      @Nullable TestEnd receives) {
    if (fromFabric != null) {
      if (!FABRICS.contains(fromFabric)) {
        throw range.refusal("--from-fabric " + fromFabric + " is neither a nor b");
      }
      return FABRICS.indexOf(fromFabric);
    }
    if (bridge == null) {
      return -1;
    }
    int bySender = sends == null ? -1 : fabricOf(bridge, sends);
    if (bySender >= 0 || receives == null) {
      return bySender;
    }
    int byReceiver = fabricOf(bridge, receives);
    return byReceiver < 0 ? -1 : 1 - byReceiver;
  }

  private static int fabricOf(BridgeConfig bridge, TestEnd end) {
    for (int side = 0; side < 2; side++) {
      for (Gid own : Stream.of(end.ipv4(), end.ipv6()).filter(Objects::nonNull).toList()) {
        if (bridge.prefixes().get(side).stream().anyMatch(each -> each.contains(own))
            || end.sharesLink(bridge.fabrics().get(side).addresses())) {
          return side;
        }
      }
    }
    return -1;
  }
}
