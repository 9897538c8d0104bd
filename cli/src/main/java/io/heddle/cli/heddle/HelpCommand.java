package io.heddle.cli.heddle;

import io.heddle.platform.NearestName;
import java.io.PrintWriter;
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
    CommandLine root = help.root().commandLine();
    CommandLine command = find(root, words.subList(json ? 1 : 0, words.size()));
    PrintWriter out = help.commandLine().getOut();
    if (!json) {
      command.usage(out);
    } else if (command == root) {
      out.print(JsonHelp.read().commands(name -> isCommand(root, name)));
    } else {
      String name = command.getCommandSpec().qualifiedName();
      String text = JsonHelp.read().documents(name);
      if (text.isEmpty()) {
        throw new ParameterException(
            help.commandLine(), name + " prints no JSON; heddle help json lists those that do");
      }
      out.print(text);
    }
    return 0;
  }

  /* Returns whether there is a command with this name, such as heddle bgp show routes. */
  private static boolean isCommand(CommandLine root, String command) {
    CommandLine at = root;
    List<String> names = List.of(command.split(" "));
    for (String word : names.subList(1, names.size())) {
      CommandLine next = at.getSubcommands().get(word);
      if (next == null) {
        return false;
      }
      at = next;
    }
    return true;
  }

  private CommandLine find(CommandLine root, List<String> names) {
    CommandLine at = root;
    for (String name : names) {
      CommandLine next = at.getSubcommands().get(name);
      if (next == null) {
        throw new ParameterException(
            Objects.requireNonNull(spec).commandLine(),
            at.getCommandSpec().qualifiedName()
                + " has no command "
                + name
                + NearestName.suggestion(name, at.getSubcommands().keySet()));
      }
      at = next;
    }
    return at;
  }
}
