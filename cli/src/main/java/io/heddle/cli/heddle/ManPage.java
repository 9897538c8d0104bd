package io.heddle.cli.heddle;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Manual page of one command, in roff's man macros. Its text is the command's help. */
final class ManPage {
  private final CommandSpec spec;
  private final StringBuilder text = new StringBuilder();

  ManPage(CommandSpec spec) {
    this.spec = spec;
  }

  /** Returns the page's name, the argument of {@code man}: {@code heddle-bgp-run}. */
  String name() {
    return spec.qualifiedName("-");
  }

  String text() {
    text.setLength(0);
    String version = String.join(" ", spec.root().version());
    text.append(".TH \"%s\" 1 \"\" \"%s\" \"Heddle\"\n".formatted(upper(name()), escape(version)));
    section("NAME");
    line(name() + " - " + firstSentence(join(spec.usageMessage().description())));
    section("SYNOPSIS");
    synopsis();
    section("DESCRIPTION");
    paragraphs(join(spec.usageMessage().description()));
    arguments();
    options();
    subcommands();
    exitStatus();
    String footer = join(spec.usageMessage().footer());
    if (!footer.isBlank()) {
      section("NOTES");
      paragraphs(footer);
    }
    seeAlso();
    return text.toString();
  }

  private void synopsis() {
    text.append(".nf\n");
    String help = spec.commandLine().getHelp().synopsis(0).replaceAll("\\R", "\n").strip();
    line(help);
    text.append(".fi\n");
  }

  private void arguments() {
    List<PositionalParamSpec> shown =
        spec.positionalParameters().stream().filter(each -> !each.hidden()).toList();
    if (!shown.isEmpty()) {
      section("ARGUMENTS");
      shown.forEach(each -> entry(label(each), describe(each)));
    }
  }

  private void options() {
    section("OPTIONS");
    for (OptionSpec each : spec.options()) {
      if (!each.hidden()) {
        entry(String.join(", ", each.names()) + label(each), describe(each));
      }
    }
  }

  /* Returns the label of an argument's value, as in the synopsis. */
  private String label(ArgSpec argument) {
    Help help = spec.commandLine().getHelp();
    return help.parameterLabelRenderer()
        .renderParameterLabel(argument, Help.Ansi.OFF, List.of())
        .toString();
  }

  private void exitStatus() {
    section("EXIT STATUS");
    spec.usageMessage().exitCodeList().forEach(this::entry);
  }

  private void subcommands() {
    List<CommandLine> shown = shownSubcommands();
    if (!shown.isEmpty()) {
      section("COMMANDS");
      for (CommandLine each : shown) {
        CommandSpec command = each.getCommandSpec();
        entry(command.name(), join(command.usageMessage().description()));
      }
    }
  }

  private List<CommandLine> shownSubcommands() {
    return spec.subcommands().values().stream()
        .filter(each -> !each.getCommandSpec().usageMessage().hidden())
        .distinct()
        .toList();
  }

  private void seeAlso() {
    List<String> names =
        shownSubcommands().stream()
            .map(each -> each.getCommandSpec().qualifiedName("-"))
            .collect(Collectors.toList());
    if (spec.parent() != null) {
      names.addFirst(spec.parent().qualifiedName("-"));
    }
    if (!names.isEmpty()) {
      section("SEE ALSO");
      line(names.stream().map(each -> each + "(1)").collect(Collectors.joining(", ")));
    }
  }

  private static String describe(ArgSpec argument) {
    return join(argument.description());
  }

  /*
   * Joins the lines of a picocli text. They are format strings: %n is a new line, %% a percent
   * sign.
   */
  private static String join(String[] lines) {
    return String.join(" ", lines).replace("%n", "\n").replace("%%", "%");
  }

  private static String firstSentence(String description) {
    String flat = description.replaceAll("\\s+", " ").strip();
    int end = flat.indexOf(". ");
    String sentence = end < 0 ? flat : flat.substring(0, end);
    return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
  }

  private static String upper(String name) {
    return name.toUpperCase(Locale.ROOT);
  }

  private void section(String title) {
    text.append(".SH ").append(title).append('\n');
  }

  private void entry(String term, String description) {
    text.append(".TP\n.B ").append(escape(term)).append('\n');
    line(description.isBlank() ? "(no description)" : description);
  }

  private void paragraphs(String description) {
    for (String paragraph : description.strip().split("\n\\s*\n|\n")) {
      text.append(".PP\n");
      line(paragraph);
    }
  }

  private void line(String content) {
    for (String each : content.strip().split("\n")) {
      String escaped = escape(each);
      /* A leading dot or apostrophe would be a roff request. */
      boolean request = escaped.startsWith(".") || escaped.startsWith("'");
      text.append(request ? "\\&" : "").append(escaped).append('\n');
    }
  }

  private static String escape(String plain) {
    return plain.replace("\\", "\\e").replace("-", "\\-");
  }
}
