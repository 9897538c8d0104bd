package io.heddle.cli.heddle;

import io.heddle.cli.bridge.BridgeCommand;
import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.doctor.DoctorCommand;
import io.heddle.cli.gateway.GatewayCommand;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.operate.BgpCommand;
import io.heddle.cli.operate.DrainCommand;
import io.heddle.cli.operate.PlanesCommand;
import io.heddle.cli.operate.VersionCommand;
import io.heddle.cli.paths.PathsCommand;
import io.heddle.cli.perf.PerfCommand;
import io.heddle.cli.stat.ErrorsCommand;
import io.heddle.cli.stat.ExporterCommand;
import io.heddle.cli.stat.StatCommand;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** The {@code heddle} command, the root of all commands. */
@Command(
    name = "heddle",
    description =
        "RDMA transport for NCCL over several Ethernet planes: checks hosts, shows statistics, runs"
            + " route and bridge daemons, measures.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      PlanesCommand.class,
      BgpCommand.class,
      GatewayCommand.class,
      DoctorCommand.class,
      PathsCommand.class,
      StatCommand.class,
      ErrorsCommand.class,
      ExporterCommand.class,
      DrainCommand.class,
      PerfCommand.class,
      BridgeCommand.class,
      ControllerCommand.class,
      VersionCommand.class,
      HelpCommand.class,
      CompletionCommand.class,
      ManPageCommand.class
    })
public final class HeddleCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@org.jspecify.annotations.Nullable CommandSpec spec;

  /** Version from the jar's manifest. */
  public static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = HeddleCommand.class.getPackage().getImplementationVersion();
      return new String[] {"heddle " + (version == null ? "(not packaged)" : version)};
    }
  }

  public static void main(String[] arguments) {
    System.exit(run(commandLine(), new FileOutputStream(FileDescriptor.out), arguments));
  }

  /**
   * Runs a command line and returns the exit code. If the output can't be written, the command has
   * failed.
   */
  public static int run(CommandLine line, OutputStream to, String... arguments) {
    StandardOutput output = new StandardOutput(to);
    line.setOut(output.writer());
    CommandLine.IExecutionStrategy usual = line.getExecutionStrategy();
    line.setExecutionStrategy(parsed -> {
      try {
        int code = usual.execute(parsed);
        line.getOut().flush();
        return code;
      } catch (StandardOutput.WriteFailed lost) {
        return ExitCode.FAILED; // reported below
      }
    });
    int code = line.execute(arguments);
    output
        .sentence()
        .ifPresent(sentence -> {
          line.getErr().println("heddle: " + sentence);
          line.getErr().flush();
        });
    return output.exitCode().orElse(code);
  }

  /* Rejects words that no command takes. picocli accepts them if the command line has --help. */
  private static void refuseUnmatched(CommandLine.ParseResult parsed) {
    for (CommandLine.ParseResult each = parsed; each != null; each = each.subcommand()) {
      if (!each.unmatched().isEmpty()) {
        throw new CommandLine.UnmatchedArgumentException(
            each.commandSpec().commandLine(), each.unmatched());
      }
    }
  }

  /** Returns the command line with the commands for hosts and those of all extensions. */
  public static CommandLine commandLine() {
    CommandLine line = new CommandLine(new HeddleCommand());
    ServiceLoader.load(CommandExtension.class).forEach(each -> each.addTo(line));
    configure(line);
    line.setExecutionStrategy(parsed -> {
      refuseUnmatched(parsed);
      return new CommandLine.RunLast().execute(parsed);
    });
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(HeddleCommand::refuse);
    line.setExecutionExceptionHandler(HeddleCommand::fail);
    return line;
  }

  /* Applies the settings that all commands share. */
  private static void configure(CommandLine command) {
    CommandLine.Model.CommandSpec spec = command.getCommandSpec();
    spec.versionProvider(new Version());
    Map<String, String> codes = new TreeMap<>(spec.usageMessage().exitCodeList());
    codes.putIfAbsent("0", "Done.");
    codes.merge(
        "1",
        "The command failed; standard error has the reason.",
        (own, any) -> own + " Or the command failed; then standard error has the reason.");
    codes.putIfAbsent("2", "Wrong command line; nothing was done.");
    spec.usageMessage().exitCodeList(codes).exitCodeListHeading("%nExit codes:%n");
    command.getSubcommands().values().forEach(HeddleCommand::configure);
  }

  @Override
  public void run() {
    if (spec != null) {
      spec.commandLine().usage(spec.commandLine().getOut());
    }
  }

  private static int refuse(ParameterException refused, String[] arguments) {
    CommandLine line = refused.getCommandLine();
    PrintWriter err = line.getErr();
    err.println("heddle: " + new UsageError(refused).text());
    err.println("See " + line.getCommandSpec().qualifiedName() + " --help");
    err.flush();
    return ExitCode.USAGE;
  }

  /*
   * Reports an exception. The message of a HeddleException is a sentence for users. Other
   * exceptions are bugs, so their stack traces are printed, except those of file operations.
   */
  private static int fail(Exception failed, CommandLine line, CommandLine.ParseResult parsed) {
    PrintWriter err = line.getErr();
    if (failed instanceof StandardOutput.WriteFailed) {
      return ExitCode.FAILED; // reported by run
    }
    if (failed instanceof HeddleException) {
      err.println("heddle: " + failed.getMessage());
    } else if (failed instanceof FileSystemException file) {
      err.println("heddle: " + file.getFile() + " can't be used: " + FileFailure.reason(file));
    } else {
      failed.printStackTrace(err);
    }
    err.flush();
    return ExitCode.FAILED;
  }
}
