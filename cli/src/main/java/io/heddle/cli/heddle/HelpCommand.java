package io.heddle.cli.heddle;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * The {@code help} command: prints a command's help, or explains the names in the command's JSON.
 */
@Command(
    name = "help",
    description = "Prints the help of a command, or the names in the JSON that a command prints.",
    footer = {
      "%nheddle help json           the commands that print JSON",
      "heddle help json COMMAND   each name in that document: its type and its meaning"
    },
    mixinStandardHelpOptions = true)
final class HelpCommand implements Callable<Integer> {
  private static final String JSON = "json";

  @CommandLine.Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "A command, such as bgp run; json before it asks for its JSON.")
  private List<String> words = List.of();

  @Override
  public Integer call() {
    CommandSpec help = Objects.requireNonNull(spec);
    boolean json = !words.isEmpty() && words.getFirst().equals(JSON);
    CommandLine command =
        find(help.root().commandLine(), words.subList(json ? 1 : 0, words.size()));
    if (json) {
      String name = command.getCommandSpec().qualifiedName();
      String text = JsonHelp.read().text(name, command.getCommandSpec() == help.root());
      if (text.isEmpty()) {
        throw new ParameterException(
            help.commandLine(), name + " prints no JSON; heddle help json lists those that do");
      }
      help.commandLine().getOut().print(text);
    } else {
      command.usage(help.commandLine().getOut());
    }
    return 0;
  }

  private CommandLine find(CommandLine root, List<String> names) {
    CommandLine at = root;
    for (String name : names) {
      CommandLine next = at.getSubcommands().get(name);
      if (next == null) {
        throw new ParameterException(
            Objects.requireNonNull(spec).commandLine(),
            at.getCommandSpec().qualifiedName() + " has no command " + name);
      }
      at = next;
    }
    return at;
  }
}
