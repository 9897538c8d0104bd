package io.heddle.tools;

import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.BenchCommand;
import io.heddle.tools.doctor.DoctorCommand;
import io.heddle.tools.stat.ErrorsCommand;
import io.heddle.tools.stat.ExporterCommand;
import io.heddle.tools.stat.StatCommand;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** The root of the command line. */
@Command(
    name = "heddle",
    description =
        "An NCCL network plugin for Ethernet fabrics with many planes: its demo, its eyes and its"
            + " benchmarks.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      PlanesCommand.class,
      BgpCommand.class,
      LabCommand.class,
      DoctorCommand.class,
      StatCommand.class,
      ErrorsCommand.class,
      ExporterCommand.class,
      DrainCommand.class,
      PerfCommand.class,
      BenchCommand.class,
      SoakCommand.class,
      ManPageCommand.class
    })
public final class HeddleCommand implements Runnable {
  static final int EXIT_FAILED = 1;
  static final int EXIT_USAGE = 2;

  @CommandLine.Spec private CommandLine.Model.@org.jspecify.annotations.Nullable CommandSpec spec;

  /** Version as the build stamped it into the jar. */
  public static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = HeddleCommand.class.getPackage().getImplementationVersion();
      return new String[] {"heddle " + (version == null ? "(not packaged)" : version)};
    }
  }

  /**
   * The command line that runs these classes once more, without arguments. Its process becomes
   * Java's. The checkout's own command would build first.
   *
   * @throws HeddleException where the script that starts commands is missing
   */
  public static List<String> asStarted() {
    return List.of(
        "sh",
        Installation.requirePart(Installation.START, "the script that starts commands").toString(),
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        System.getProperty("java.class.path"));
  }

  public static void main(String[] arguments) {
    System.exit(run(commandLine(), new FileOutputStream(FileDescriptor.out), arguments));
  }

  /** The exit code. A report that isn't written is no success, whatever it says. */
  static int run(CommandLine line, OutputStream to, String... arguments) {
    StandardOutput output = new StandardOutput(to);
    line.setOut(output.writer());
    line.setExecutionStrategy(parsed -> {
      try {
        int code = new CommandLine.RunLast().execute(parsed);
        line.getOut().flush();
        return code;
      } catch (StandardOutput.Lost lost) {
        return EXIT_FAILED; // told below
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

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new HeddleCommand());
    settle(line);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(HeddleCommand::refuse);
    line.setExecutionExceptionHandler(HeddleCommand::fail);
    return line;
  }

  /* What all commands have alike. */
  private static void settle(CommandLine command) {
    CommandLine.Model.CommandSpec spec = command.getCommandSpec();
    spec.versionProvider(new Version());
    Map<String, String> codes = new TreeMap<>(spec.usageMessage().exitCodeList());
    codes.putIfAbsent("0", "Done.");
    codes.merge(
        "1",
        "What was asked for failed; standard error says why.",
        (own, any) -> own + " Or it couldn't be found out; then standard error says why.");
    codes.putIfAbsent("2", "The command line is wrong; nothing was done.");
    spec.usageMessage().exitCodeList(codes).exitCodeListHeading("%nExit codes:%n");
    command.getSubcommands().values().forEach(HeddleCommand::settle);
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
    err.println("heddle: " + new Refusal(refused).text());
    err.println("See " + line.getCommandSpec().qualifiedName() + " --help");
    err.flush();
    return EXIT_USAGE;
  }

  /* A HeddleException is a sentence for people; anything else is a fault of ours and keeps its trace. */
  private static int fail(Exception failed, CommandLine line, CommandLine.ParseResult parsed) {
    PrintWriter err = line.getErr();
    if (failed instanceof StandardOutput.Lost) {
      return EXIT_FAILED; // told by run
    }
    if (failed instanceof HeddleException) {
      err.println("heddle: " + failed.getMessage());
    } else if (failed instanceof FileSystemException file) {
      err.println("heddle: " + file.getFile() + " can't be used: " + FileFailure.reason(file));
    } else {
      failed.printStackTrace(err);
    }
    err.flush();
    return EXIT_FAILED;
  }
}
