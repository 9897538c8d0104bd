package io.heddle.cli.operate;

import io.heddle.bgpstub.daemon.BgpDaemon;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.bgpstub.daemon.DaemonConfig;
import io.heddle.cli.kit.ConfigOption;
import io.heddle.cli.stat.StatsOption;
import io.heddle.daemon.ControlSocket;
import io.heddle.daemon.DaemonFaults;
import io.heddle.daemon.DaemonStart;
import io.heddle.daemon.HangUps;
import io.heddle.platform.Log;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Commands {@code heddle bgp}: the route daemon and its queries. */
@Command(
    name = "bgp",
    description =
        "The route daemon: learns from the leaves, by BGP, which planes reach which destinations"
            + " at which bandwidth, and publishes that to the plugin processes of this host.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = BgpShowCommand.class)
public final class BgpCommand {
  /** Option for the route daemon's configuration. */
  static final class BgpConfig extends ConfigOption {
    BgpConfig() {
      super(ConfigParser.DEFAULT_FILE);
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Command(
      name = "check",
      description = "Checks a configuration.",
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {ConfigOption.VALID, ConfigOption.INVALID},
      mixinStandardHelpOptions = true)
  int check(@CommandLine.Mixin BgpConfig option) {
    Path file = option.file();
    DaemonConfig config = ConfigParser.read(file);
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(file + " is valid: AS " + config.as() + ", " + config.peers().size() + " peers");
    out.flush();
    return 0;
  }

  @Command(
      name = "run",
      description = {
        "Runs in the foreground until SIGTERM or SIGINT.",
        "SIGHUP makes it read its configuration again."
      },
      mixinStandardHelpOptions = true)
  int run(@CommandLine.Mixin BgpConfig option, @CommandLine.Mixin StatsOption stats)
      throws InterruptedException {
    Path file = option.file();
    DaemonConfig config = ConfigParser.read(file);
    BgpSocket.requireNotRunning(config.control());
    Log log = DaemonStart.timedLog();
    DaemonFaults.exitOnUncaughtError("heddle bgp", log);
    HangUps hangUps = new HangUps(log);
    BgpDaemon daemon = BgpDaemon.start(config, new JobPeers(stats.folders()), log);
    daemon.onPersistentFailure(thrown -> DaemonFaults.end(log));
    BgpRequestHandler answers = new BgpRequestHandler(daemon, config.publish());
    ControlSocket socket =
        DaemonStart.orEnd(
            daemon::close, () -> BgpSocket.listen(config.control(), answers::answer, log));
    CountDownLatch ended =
        DaemonStart.onEnd(() -> {
          socket.close();
          daemon.close();
          log.info("ended; jobs keep the last weights for HEDDLE_ROUTES_HOLD_MS");
        });
    hangUps.onEach(() -> HangUps.reload(file, log, () -> daemon.reload(ConfigParser.read(file))));
    log.info(
        "AS %d, %d peers, routes at %s, control socket at %s",
        config.as(), config.peers().size(), config.publish(), config.control());
    ended.await();
    return 0;
  }
}
