package io.heddle.gateway.command;

import io.heddle.addr.AddressText;
import io.heddle.cli.kit.DaemonFaults;
import io.heddle.cli.kit.DaemonStart;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.QuestionSocket;
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

/** The gateway between data centre and WAN, and questions and orders to it. */
@Command(
    name = "gateway",
    description =
        "The gateway between data centre and WAN: shares RoCEv2 queue pairs out over SRv6 segment"
            + " lists, shows which are elephants, and steers single ones.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = GatewayShowCommand.class)
public final class GatewayCommand {
  private static final String CONFIG = "/etc/heddle/gateway.conf";
  private static final String OBSERVE_TEXT =
      "A router between gateways: reports interfaces as telemetry and touches no packet. Only the"
          + " keys telemetry and telemetry-* of the configuration count.";
  private static final String CONFIG_TEXT = "The configuration (${DEFAULT-VALUE}).";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private void say(String sentence) {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(sentence);
    out.flush();
  }

  @Command(
      name = "check",
      description = "Says whether a configuration is right, and whether this host can do it.",
      mixinStandardHelpOptions = true)
  int check(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = CONFIG,
              description = CONFIG_TEXT)
          Path file,
      @Option(names = "--observe", description = OBSERVE_TEXT) boolean observes) {
    if (observes) {
      GatewayConfigParser.readTelemetry(file).files().server();
      say(file + " is right for a router that observes");
      return 0;
    }
    GatewayConfig config = GatewayConfigParser.read(file);
    List<String> faults = HostFindings.faults(config);
    say(
        "%s is right: %s policies, %s segment lists"
            .formatted(file, config.policies().size(), config.lists().count()));
    faults.forEach(fault -> say("this host: " + fault));
    return faults.isEmpty() ? 0 : ExitCode.FAILED;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until it is told to end (SIGTERM, SIGINT).",
        "Packets go on by the lists that they have when it ends; heddle gateway remove stops that."
      },
      mixinStandardHelpOptions = true)
  int run(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = CONFIG,
              description = CONFIG_TEXT)
          Path file,
      @Option(names = "--observe", description = OBSERVE_TEXT) boolean observes)
      throws InterruptedException {
    if (observes) {
      return observe(GatewayConfigParser.readTelemetry(file));
    }
    GatewayConfig config = GatewayConfigParser.read(file);
    DaemonStart.requireAlone(GatewayControl.DAEMON, config.control());
    Log log = DaemonStart.timedLog();
    DaemonFaults.endProcessFor("heddle gateway", log);
    Gateway gateway = Gateway.start(config, log);
    QuestionSocket socket = listen(gateway, config, log);
    gateway.watch(() -> DaemonFaults.end(log));
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              socket.close();
              gateway.close();
              log.info("ended; packets go on by the lists that they have");
              ended.countDown();
            }));
    GatewayStatus.Lists lists = gateway.view().lists();
    log.info(
        "%s on %s: %d policies, questions at %s",
        lists.adopted() ? "found the data plane at work" : "the data plane works",
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
    DaemonFaults.endProcessFor("heddle gateway", log);
    Observer observer = Observer.start(config, log);
    CountDownLatch ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              observer.close();
              log.info("ended");
              ended.countDown();
            }));
    log.info(
        "reports its interfaces at %s port %d, and touches no packet",
        AddressText.of(config.address()), config.port());
    ended.await();
    return 0;
  }

  private static QuestionSocket listen(Gateway gateway, GatewayConfig config, Log log) {
    try {
      return QuestionSocket.listen(
          GatewayControl.DAEMON, config.control(), new GatewayAnswers(gateway)::answer, log);
    } catch (HeddleException refused) {
      /* What was found at work goes on; what has only just begun would be watched by nobody. */
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
      description = "Takes program, routes and rules of a gateway that runs no more off this host.",
      mixinStandardHelpOptions = true)
  int remove(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = CONFIG,
              description = CONFIG_TEXT)
          Path file) {
    Gateway.remove(GatewayConfigParser.read(file));
    say("program, routes and rules are gone; packets are routed as without a gateway");
    return 0;
  }

  @Command(
      name = "steer",
      description = "Has a queue pair's packets go by one list, whatever their hash.",
      mixinStandardHelpOptions = true)
  int steer(
      @Option(
              names = "--destination",
              required = true,
              paramLabel = "ADDRESS",
              description = "Where the queue pair is.")
          String destination,
      @Option(
              names = "--qp",
              required = true,
              paramLabel = "NUMBER",
              converter = QueuePairNumber.class,
              description = "Its number; 0x11 is one, too.")
          Integer queuePair,
      @Option(names = "--source", paramLabel = "ADDRESS", description = "Only packets from there.")
          @Nullable String source,
      @Option(names = "--list", required = true, paramLabel = "NAME", description = "Which list.")
          String list,
      @CommandLine.Mixin GatewayControl control) {
    return order(
        control, GatewayAnswers.order(GatewayAnswers.STEER, destination, queuePair, source, list));
  }

  @Command(
      name = "release",
      description = "Gives a queue pair back to its hash.",
      mixinStandardHelpOptions = true)
  int release(
      @Option(
              names = "--destination",
              required = true,
              paramLabel = "ADDRESS",
              description = "Where the queue pair is.")
          String destination,
      @Option(
              names = "--qp",
              required = true,
              paramLabel = "NUMBER",
              converter = QueuePairNumber.class,
              description = "Its number; 0x11 is one, too.")
          Integer queuePair,
      @Option(
              names = "--source",
              paramLabel = "ADDRESS",
              description = "The source that the rule names.")
          @Nullable String source,
      @CommandLine.Mixin GatewayControl control) {
    return order(
        control, GatewayAnswers.order(GatewayAnswers.RELEASE, destination, queuePair, source, "-"));
  }

  private int order(GatewayControl control, String line) {
    say(control.ask(line, GatewayStatus.Done.class).done());
    return 0;
  }
}
