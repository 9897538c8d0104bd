package io.heddle.cli.heddle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Hidden command that writes a manual page for every command, for the packages. */
@Command(
    name = "write-man-pages",
    hidden = true,
    description = "Writes a manual page for every command to a folder.",
    mixinStandardHelpOptions = true)
final class ManPageCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "FOLDER", description = "Target folder; created if missing.")
  private @Nullable Path folder;

  @Override
  public Integer call() throws IOException {
    Path target = Objects.requireNonNull(folder);
    Files.createDirectories(target);
    write(Objects.requireNonNull(spec).root().commandLine(), target);
    return 0;
  }

  private static void write(CommandLine command, Path target) throws IOException {
    ManPage page = new ManPage(command.getCommandSpec());
    Files.writeString(target.resolve(page.name() + ".1"), page.text());
    for (CommandLine each : command.getSubcommands().values()) {
      if (!each.getCommandSpec().usageMessage().hidden()) {
        write(each, target);
      }
    }
  }
}
