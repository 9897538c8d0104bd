package io.heddle.cli.gateway;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.ConfigOption;
import io.heddle.cli.kit.ExitCode;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonFaults;
import io.heddle.daemon.DaemonStart;
import io.heddle.daemon.HangUps;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.HostFindings;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.gateway.config.TelemetryConfig;
import io.heddle.gateway.observe.Observer;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands {@code heddle gateway}. */
@Command(
    name = "gateway",
    description =
        "The gateway between data centre and WAN: distributes RoCEv2 queue pairs over SRv6 segment"
            + " lists, shows the elephants among them, and steers single ones.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = GatewayShowCommand.class)
public final class GatewayCommand {
  private static final String OBSERVE_TEXT =
      "A router between gateways: reports interfaces as telemetry and touches no packet. Uses only"
          + " the keys telemetry and telemetry-* of the configuration.";

  /** Option for the gateway's configuration. */
  static final class GatewayConfigOption extends ConfigOption {
    GatewayConfigOption() {
      super(Path.of("/etc/heddle/gateway.conf"));
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private void print(String sentence) {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(sentence);
    out.flush();
  }

  @Command(
      name = "check",
      description = "Checks a configuration, and whether this host supports it.",
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {ConfigOption.VALID, ConfigOption.INVALID_HERE},
      mixinStandardHelpOptions = true)
  int check(
      @CommandLine.Mixin GatewayConfigOption option,
      @Option(names = "--observe", description = OBSERVE_TEXT) boolean observes) {
    Path file = option.file();
    if (observes) {
      GatewayConfigParser.readTelemetry(file).files().server();
      print(file + " is valid for a router that observes");
      return 0;
    }
    GatewayConfig config = GatewayConfigParser.read(file);
    List<String> faults = HostFindings.faults(config);
    print(
        "%s is valid: %s policies, %s segment lists"
            .formatted(file, config.policies().size(), config.lists().count()));
    faults.forEach(fault -> print("this host: " + fault));
    return faults.isEmpty() ? 0 : ExitCode.FAILED;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until SIGTERM or SIGINT.",
        "Forwarding goes on after it ends; heddle gateway remove stops it.",
        "SIGHUP changes nothing: restart it to read the configuration again."
      },
      mixinStandardHelpOptions = true)
  int run(
      @CommandLine.Mixin GatewayConfigOption option,
      @Option(names = "--observe", description = OBSERVE_TEXT) boolean observes)
      throws InterruptedException {
    Path file = option.file();
    if (observes) {
      return observe(GatewayConfigParser.readTelemetry(file));
    }
    GatewayConfig config = GatewayConfigParser.read(file);
    DaemonStart.requireNotRunning(GatewayControl.DAEMON, config.control());
    Log log = DaemonStart.timedLog();
    DaemonFaults.exitOnUncaughtError("heddle gateway", log);
    HangUps.ignore(log);
    Gateway gateway = Gateway.start(config, log);
    ControlSocket socket = listen(gateway, config, log);
    gateway.watch(() -> DaemonFaults.end(log));
    CountDownLatch ended =
        DaemonStart.onEnd(() -> {
          socket.close();
          gateway.close();
          log.info("ended; packets keep their lists");
        });
    GatewayStatus.Lists lists = gateway.view().lists();
    log.info(
        "%s on %s: %d policies, control socket %s",
        lists.adopted() ? "adopted the running data plane" : "started the data plane",
        String.join(", ", config.lan()),
        config.policies().size(),
        config.control());
    lists
        .lists()
        .forEach(each ->
            log.info(
                "list %s by %s takes packets of up to %d bytes",
                each.name(), each.device(), each.mtuBytes()));
    ended.await();
    return 0;
  }

  private static int observe(TelemetryConfig config) throws InterruptedException {
    Log log = DaemonStart.timedLog();
    DaemonFaults.exitOnUncaughtError("heddle gateway", log);
    HangUps.ignore(log);
    Observer observer = Observer.start(config, log);
    CountDownLatch ended =
        DaemonStart.onEnd(() -> {
          observer.close();
          log.info("ended");
        });
    log.info(
        "reports its interfaces at %s port %d, and touches no packet",
        AddressText.of(config.address()), config.port());
    ended.await();
    return 0;
  }

  private static ControlSocket listen(Gateway gateway, GatewayConfig config, Log log) {
    try {
      return ControlSocket.listen(
          GatewayControl.DAEMON, config.control(), new GatewayRequestHandler(gateway)::answer, log);
    } catch (HeddleException refused) {
      /*
       * A data plane that this process has adopted stays, since it forwarded before this process
       * began. A new one is removed, since no process would control it.
       */
      boolean found = gateway.view().lists().adopted();
      gateway.close();
      if (!found) {
        Gateway.remove(config);
      }
      throw refused;
    }
  }

  @Command(
      name = "remove",
      description = "Removes program, routes and rules of an ended gateway from this host.",
      mixinStandardHelpOptions = true)
  int remove(@CommandLine.Mixin GatewayConfigOption option) {
    Gateway.remove(GatewayConfigParser.read(option.file()));
    print("program, routes and rules are removed; packets are routed as without a gateway");
    return 0;
  }

  @Command(
      name = "steer",
      description = "Steers a queue pair's packets to one list, whatever their hash.",
      mixinStandardHelpOptions = true)
  int steer(
      @Option(
              names = "--destination",
              required = true,
              paramLabel = "ADDRESS",
              description = "The queue pair's address.")
          String destination,
      @Option(
              names = "--qp",
              required = true,
              paramLabel = "NUMBER",
              converter = QueuePairNumber.class,
              description = "The queue pair's number, as 17 or 0x11.")
          Integer queuePair,
      @Option(
              names = "--source",
              paramLabel = "ADDRESS",
              description = "Only packets from this address.")
          @Nullable String source,
      @Option(names = "--list", required = true, paramLabel = "NAME", description = "The list.")
          String list,
      @CommandLine.Mixin GatewayControl control) {
    return order(
        control,
        GatewayRequestHandler.order(
            GatewayRequestHandler.STEER, destination, queuePair, source, list));
  }

  @Command(
      name = "release",
      description = "Withdraws the rule of a steered queue pair: its hash chooses its list again.",
      mixinStandardHelpOptions = true)
  int release(
      @Option(
              names = "--destination",
              required = true,
              paramLabel = "ADDRESS",
              description = "The queue pair's address.")
          String destination,
      @Option(
              names = "--qp",
              required = true,
              paramLabel = "NUMBER",
              converter = QueuePairNumber.class,
              description = "The queue pair's number, as 17 or 0x11.")
          Integer queuePair,
      @Option(
              names = "--source",
              paramLabel = "ADDRESS",
              description = "The source that the rule names.")
          @Nullable String source,
      @CommandLine.Mixin GatewayControl control) {
    return order(
        control,
        GatewayRequestHandler.order(
            GatewayRequestHandler.RELEASE, destination, queuePair, source, "-"));
  }

  private int order(GatewayControl control, String line) {
    print(control.request(line, GatewayStatus.OrderResult.class).done());
    return 0;
  }
}
