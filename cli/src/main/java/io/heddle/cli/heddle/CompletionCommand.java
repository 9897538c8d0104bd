package io.heddle.cli.heddle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Hidden command that writes the bash completion for the packages. zsh can use the file by
 * bashcompinit.
 */
@Command(
    name = "write-completion",
    hidden = true,
    description = "Writes the completion of commands and options for bash to a file.",
    mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "Where to write.")
  private @Nullable Path file;

  @Override
  public Integer call() throws IOException {
    Files.writeString(
        Objects.requireNonNull(file),
        AutoComplete.bash("heddle", Objects.requireNonNull(spec).root().commandLine()));
    return 0;
  }
}
