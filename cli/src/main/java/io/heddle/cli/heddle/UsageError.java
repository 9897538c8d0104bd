package io.heddle.cli.heddle;

import io.heddle.platform.NearestName;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Sentence about an error in a command line, which replaces picocli's message. */
final class UsageError {
  private static final String NO_COMMAND = "Missing required subcommand";

  /** Prefix that picocli puts before a converter's message. */
  private static final String INVALID =
      "^Invalid value for (option '[^']*'|positional parameter at index [0-9.*+]+)( \\(.*?\\))?: ";

  private final ParameterException refused;
  private final CommandSpec spec;

  UsageError(ParameterException refused) {
    this.refused = refused;
    this.spec = refused.getCommandLine().getCommandSpec();
  }

  /** Returns the sentence, without a full stop. */
  String text() {
    if (refused instanceof UnmatchedArgumentException unmatched) {
      return unmatched(unmatched.getUnmatched().getFirst());
    }
    if (refused instanceof MissingParameterException missing && !missing.getMissing().isEmpty()) {
      return missing(missing.getMissing());
    }
    String message = String.valueOf(refused.getMessage());
    if (message.equals(NO_COMMAND)) {
      return command() + " requires one of: " + String.join(", ", commandsOf(spec));
    }
    ArgSpec argument = refused.getArgSpec();
    if (argument == null) {
      return message;
    }
    return invalid(argument, message.replaceFirst(INVALID, ""), message);
  }

  /* Returns the full name of the command, such as {@code heddle bgp run}. */
  private String command() {
    return spec.qualifiedName();
  }

  private static String nameOf(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }

  private String unmatched(String given) {
    String word = given.contains("=") ? given.substring(0, given.indexOf('=')) : given;
    if (given.startsWith("-")) {
      List<String> options =
          spec.options().stream()
              .filter(option -> !option.hidden())
              .flatMap(option -> Stream.of(option.names()))
              .filter(name -> name.startsWith("--"))
              .toList();
      return command() + " has no option " + word + NearestName.suggestion(word, options);
    }
    if (!spec.subcommands().isEmpty()) {
      List<String> commands = commandsOf(spec);
      String question = NearestName.suggestion(word, commands);
      return command()
          + " has no command "
          + word
          + (question.isEmpty() ? "; there are " + String.join(", ", commands) : question);
    }
    List<PositionalParamSpec> wanted = spec.positionalParameters();
    return command()
        + " takes "
        + (wanted.isEmpty()
            ? "options only"
            : wanted.stream().map(ArgSpec::paramLabel).collect(Collectors.joining(" "))
                + " and options only")
        + "; '"
        + given
        + "' is too much";
  }

  private String missing(List<ArgSpec> missing) {
    ArgSpec first = missing.getFirst();
    if (first instanceof OptionSpec && !first.required()) {
      return nameOf(first) + " requires a value: " + first.paramLabel();
    }
    return command()
        + " requires "
        + missing.stream().map(UsageError::nameOf).collect(Collectors.joining(" and "));
  }

  private static String invalid(ArgSpec argument, String told, String message) {
    if (told.equals(message)) {
      return message;
    }
    Class<?> type = argument.auxiliaryTypes()[0];
    if (type.isEnum() && argument.converters().length == 0) {
      List<String> words = new ArrayList<>();
      for (Object each : type.getEnumConstants()) {
        words.add(each.toString().toLowerCase(Locale.ROOT));
      }
      String given = told.replaceFirst("(?s)^.* but was '(.*)'$", "$1");
      return nameOf(argument)
          + " "
          + given
          + " is not one of "
          + String.join(", ", words)
          + NearestName.suggestion(given.toLowerCase(Locale.ROOT), words);
    }
    if (type == boolean.class) {
      return nameOf(argument) + " takes no value";
    }
    /* Java's type names mean nothing to users. */
    String plain =
        told.replaceFirst("is not an? (int|Integer|long|Long)$", "is not a whole number")
            .replaceFirst("is not a (double|Double)$", "is not a number");
    return nameOf(argument) + " " + plain;
  }

  private static List<String> commandsOf(CommandSpec spec) {
    return spec.subcommands().entrySet().stream()
        .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
        .filter(each -> each.getKey().equals(each.getValue().getCommandName()))
        .map(Map.Entry::getKey)
        .toList();
  }
}
