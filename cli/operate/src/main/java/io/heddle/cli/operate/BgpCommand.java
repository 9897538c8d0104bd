package io.heddle.cli.operate;

import io.heddle.bgpstub.daemon.BgpDaemon;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.bgpstub.daemon.DaemonConfig;
import io.heddle.cli.kit.DaemonFaults;
import io.heddle.cli.kit.DaemonStart;
import io.heddle.cli.kit.QuestionSocket;
import io.heddle.cli.stat.StatsOption;
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
import picocli.CommandLine.Parameters;

/** The route daemon, and questions to it. */
@Command(
    name = "bgp",
    description =
        "The route daemon: learns from the leaves which planes reach whom and how well, and"
            + " publishes it to the plugin processes of this host.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = BgpShowCommand.class)
public final class BgpCommand {
  private static final String CONFIG = "/etc/heddle/bgp.conf";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Command(
      name = "check",
      description = "Says whether a configuration is right.",
      mixinStandardHelpOptions = true)
  int check(
      @Parameters(
              paramLabel = "CONFIG",
              arity = "0..1",
              defaultValue = CONFIG,
              description = "The configuration (${DEFAULT-VALUE}).")
          Path file) {
    DaemonConfig config = ConfigParser.read(file);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(file + " is right: AS " + config.as() + ", " + config.peers().size() + " peers");
    out.flush();
    return 0;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until it is told to end (SIGTERM, SIGINT).",
        "SIGHUP has it read its configuration again."
      },
      mixinStandardHelpOptions = true)
  int run(
      @Option(
              names = "--config",
              paramLabel = "FILE",
              defaultValue = CONFIG,
              description = "The configuration (${DEFAULT-VALUE}).")
          Path file,
      @CommandLine.Mixin StatsOption stats)
      throws InterruptedException {
    DaemonConfig config = ConfigParser.read(file);
    Log log = DaemonStart.timedLog();
    DaemonFaults.endProcessFor("heddle bgp", log);
    BgpDaemon daemon = BgpDaemon.start(config, new JobPeers(stats.folders()), log);
    daemon.onPersistentFailure(thrown -> DaemonFaults.end(log));
    BgpAnswers answers = new BgpAnswers(daemon, config.publish());
    QuestionSocket socket = BgpSocket.listen(config.control(), answers::answer, log);
    CountDownLatch ended = new CountDownLatch(1);
    DaemonStart.onHangUp(log, () -> reload(file, daemon, log));
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              socket.close();
              daemon.close();
              log.info(
                  "ended; jobs keep the last weights for as long as HEDDLE_ROUTES_HOLD_MS says");
              ended.countDown();
            }));
    log.info(
        "AS %d, %d peers, routes at %s, questions at %s",
        config.as(), config.peers().size(), config.publish(), config.control());
    ended.await();
    return 0;
  }

  private static void reload(Path file, BgpDaemon daemon, Log log) {
    try {
      log.info("%s is read again: %s", file, daemon.reload(ConfigParser.read(file)));
    } catch (HeddleException refused) {
      log.warn(
          "%s is read again and refused, the configuration from before stays in force: %s",
          file, String.valueOf(refused.getMessage()));
    }
  }
}
