package io.heddle.cli.bridge;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.infiniband.RdmaCmSidrService;
import io.heddle.bridge.redundancy.BridgeOrders;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.cli.kit.ConfigOption;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonFaults;
import io.heddle.daemon.DaemonStart;
import io.heddle.daemon.HangUps;
import io.heddle.daemon.ServiceSupervisor;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The {@code bridge} command: the gateway between two RDMA fabrics. */
@Command(
    name = "bridge",
    description =
        "A gateway between two RDMA fabrics: forwards datagrams in both directions, without"
            + " loops, and counts the packets that it drops.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      BridgeShowCommand.class,
      BridgeTestCommand.class,
      SetCommand.class,
      OrderCommand.Drain.class,
      OrderCommand.Hold.class,
      OrderCommand.Take.class,
      OrderCommand.Yield.class
    })
public final class BridgeCommand {
  /* Null address in place of counters: a port that is only opened and closed counts nothing. */
  private static final long NO_COUNTERS = 0;

  /** Option for the bridge's configuration. */
  static final class BridgeConfigOption extends ConfigOption {
    BridgeConfigOption() {
      super(Path.of("/etc/heddle/bridge.conf"));
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Command(
      name = "check",
      description = {
        "Checks a configuration.",
        "With unicast, prints the required routes; for fabrics of kind verbs, opens the devices.",
        "With --host, also checks this host for faults that keep packets from arriving."
      },
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {ConfigOption.VALID, ConfigOption.INVALID_HERE},
      mixinStandardHelpOptions = true)
  int check(
      @Option(
              names = "--host",
              description = "Also check this host for the usual causes of missing packets.")
          boolean host,
      @Option(names = "--json", description = "With --host: print the findings as JSON instead.")
          boolean json,
      @CommandLine.Mixin BridgeConfigOption option) {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    if (json && !host) {
      throw new CommandLine.ParameterException(
          line.getSubcommands().get("check"), "--json needs --host");
    }
    Path file = option.file();
    BridgeConfig config = BridgeConfigParser.read(file);
    String devices = devices(config);
    PrintWriter out = line.getOut();
    if (json) {
      BridgeHostCheck.Report report = BridgeHostCheck.check(config);
      out.println(Json.of(report));
      out.flush();
      return report.findings().isEmpty() ? 0 : ExitCode.FAILED;
    }
    out.println(
        file
            + " is valid: bridge "
            + config.name()
            + ", "
            + config.groups().size()
            + " groups between "
            + config.fabrics().getFirst().end()
            + " and "
            + config.fabrics().getLast().end());
    out.print(devices);
    if (config.unicast() != null) {
      out.print(UnicastRoutes.of(config));
    }
    boolean right = true;
    if (host) {
      BridgeHostCheck.Report report = BridgeHostCheck.check(config);
      out.print(report.text());
      right = report.findings().isEmpty();
    }
    out.flush();
    return right ? 0 : ExitCode.FAILED;
  }

  /*
   * Returns one line for each fabric of kind verbs. Opens each fabric's device, since only that
   * shows whether the device exists.
   */
  private static String devices(BridgeConfig config) {
    StringBuilder text = new StringBuilder();
    for (FabricSpec each : config.fabrics()) {
      if (each instanceof VerbsSpec spec) {
        if (spec.queuePairs() > 0) {
          RdmaCmSidrService.requirePresent(spec.device());
        }
        try (VerbsFabric fabric = VerbsFabric.open(spec, (level, sentence) -> {}, NO_COUNTERS)) {
          text.append("fabric ").append(each.name()).append(": ").append(fabric.describe());
          if (config.redundancy() != null) {
            text.append(", beacons by ").append(fabric.requireBeacons(config.redundancy()).name());
          }
          text.append('\n');
        }
      }
    }
    return text.toString();
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until SIGTERM or SIGINT.",
        "SIGHUP reloads the configuration: unchanged groups lose no packets."
      },
      mixinStandardHelpOptions = true)
  int run(@CommandLine.Mixin BridgeConfigOption option) throws InterruptedException {
    Path file = option.file();
    BridgeConfig config = BridgeConfigParser.read(file);
    Log log = DaemonStart.timedLog();
    DaemonFaults.exitOnUncaughtError("heddle bridge", log);
    HangUps hangUps = new HangUps(log);
    if (config.redundancy() != null) {
      BridgeSocket.requireNotRunning(config.control());
    }
    Bridge bridge = Bridge.start(config, file, log, () -> DaemonFaults.end(log));
    ControlSocket socket = DaemonStart.orEnd(bridge::close, () -> listen(config, bridge, log));
    BridgeService service =
        new BridgeService(ServiceSupervisor.ofThisProcess(log), bridge.health(), log);
    CountDownLatch ended =
        DaemonStart.onEnd(() -> {
          service.close();
          if (socket != null) {
            socket.close();
          }
          bridge.close();
          log.info("ended; the last counts stay in %s", config.status());
        });
    hangUps.onEach(() ->
        service.reload(
            () -> HangUps.reload(file, log, () -> bridge.reload(BridgeConfigParser.read(file)))));
    log.info("%s", bridge.describe());
    ended.await();
    return 0;
  }

  /*
   * Opens the control socket. Returns null if that fails and the bridge has no redundancy: such a
   * bridge can run without the socket, for example if another bridge listens at the default path.
   */
  private static @Nullable ControlSocket listen(BridgeConfig config, Bridge bridge, Log log) {
    BridgeOrders orders = bridge.orders();
    try {
      if (orders == null) {
        BridgeSocket.requireNotRunning(config.control());
      }
      return BridgeSocket.listen(config.control(), orders, bridge.faults(), log);
    } catch (HeddleException refused) {
      if (orders != null) {
        throw refused;
      }
      log.warn(
          "no control socket, so this bridge can't be controlled: %s",
          String.valueOf(refused.getMessage()));
      return null;
    }
  }
}
