package io.heddle.tools;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.tools.bench.BenchCommand;
import io.heddle.tools.doctor.DoctorCommand;
import io.heddle.tools.stat.ErrorsCommand;
import io.heddle.tools.stat.ExporterCommand;
import io.heddle.tools.stat.StatCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

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

  /** The command line that runs this command once more, without its arguments. */
  public static List<String> asStarted() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        HeddleCommand.class.getName());
  }

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
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
    if (!spec.usageMessage().exitCodeList().isEmpty()) {
      spec.usageMessage().exitCodeListHeading("%nExit codes:%n");
    }
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
    String message = String.valueOf(refused.getMessage());
    if (message.equals("Missing required subcommand")) {
      message =
          line.getCommandSpec().qualifiedName()
              + " wants one of: "
              + String.join(", ", shown(line.getCommandSpec()));
    }
    err.println("heddle: " + inWords(message));
    if (refused instanceof UnmatchedArgumentException unmatched) {
      err.println(hint(unmatched.getUnmatched().getFirst(), line.getCommandSpec()));
    }
    err.println("See " + line.getCommandSpec().qualifiedName() + " --help");
    err.flush();
    return EXIT_USAGE;
  }

  /* Java's names of types mean nothing to people. */
  private static String inWords(String message) {
    return message
        .replaceFirst("is not an (int|Integer)$", "is not a whole number")
        .replaceFirst("is not a (long|Long)$", "is not a whole number")
        .replaceFirst("is not a (double|Double)$", "is not a number");
  }

  private static List<String> shown(CommandLine.Model.CommandSpec spec) {
    return spec.subcommands().entrySet().stream()
        .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
        .map(Map.Entry::getKey)
        .toList();
  }

  private static String hint(String given, CommandLine.Model.CommandSpec spec) {
    if (!given.startsWith("-") && spec.subcommands().isEmpty()) {
      return spec.qualifiedName()
          + (spec.positionalParameters().isEmpty()
              ? " takes options only"
              : " takes no more than " + spec.positionalParameters().size() + " of these");
    }
    return "Did you mean " + nearest(given, spec) + "?";
  }

  private static String nearest(String given, CommandLine.Model.CommandSpec spec) {
    String word = given.contains("=") ? given.substring(0, given.indexOf('=')) : given;
    List<String> names = new ArrayList<>();
    if (word.startsWith("-") || spec.subcommands().isEmpty()) {
      spec.options().stream()
          .filter(option -> !option.hidden())
          .forEach(option -> names.add(option.longestName()));
    } else {
      names.addAll(shown(spec));
    }
    return names.isEmpty() ? "--help" : NearestName.of(word, names);
  }

  /* A HeddleException is a sentence for people; anything else is a fault of ours and keeps its trace. */
  private static int fail(Exception failed, CommandLine line, CommandLine.ParseResult parsed) {
    PrintWriter err = line.getErr();
    if (failed instanceof HeddleException) {
      err.println("heddle: " + failed.getMessage());
    } else {
      failed.printStackTrace(err);
    }
    err.flush();
    return EXIT_FAILED;
  }
}
