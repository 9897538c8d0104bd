package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.Checkout;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Tests that compare every command's help and manual page with its options. */
final class CommandTextsTest {
  private static final Pattern OPTION = Pattern.compile("--?[\\w-]+");
  private static final Pattern LABEL = Pattern.compile("\\[?[A-Z@:|\\[\\],.a-z0-9=]+]?");

  /* Phrases with which a description states the default in words, such as "all". */
  private static final Pattern IN_WORDS =
      Pattern.compile(" unless said| without it|[Dd]efault|\\(all\\b");

  private static final int BROKEN_USAGE = 2;

  @TempDir private Path folder;

  private static List<CommandSpec> commands() {
    List<CommandSpec> commands = new ArrayList<>();
    collect(HeddleCommand.commandLine(), commands);
    return commands;
  }

  private static void collect(CommandLine line, List<CommandSpec> into) {
    into.add(line.getCommandSpec());
    for (CommandLine each : new LinkedHashSet<>(line.getSubcommands().values())) {
      if (!each.getCommandSpec().usageMessage().hidden()) {
        collect(each, into);
      }
    }
  }

  private static Set<String> shownOptions(CommandSpec spec) {
    Set<String> names = new TreeSet<>();
    for (OptionSpec each : spec.options()) {
      if (!each.hidden()) {
        names.addAll(List.of(each.names()));
      }
    }
    return names;
  }

  /* Returns the terms that a section of a manual page defines. */
  private static List<String> terms(String page, String section) {
    Matcher found =
        Pattern.compile("(?ms)^\\.SH " + section + "\\n(.*?)(?=^\\.SH |\\z)").matcher(page);
    List<String> terms = new ArrayList<>();
    if (found.find()) {
      Matcher term = Pattern.compile("(?m)^\\.B (.*)$").matcher(found.group(1));
      while (term.find()) {
        terms.add(term.group(1).replace("\\-", "-").replace("\\e", "\\"));
      }
    }
    return terms;
  }

  @Test
  void manualPagesListExactlyTheCommandsOptions() throws Exception {
    CommandLine line = HeddleCommand.commandLine();
    assertEquals(0, line.execute("write-man-pages", folder.toString()));
    Set<String> expected = new TreeSet<>();
    for (CommandSpec spec : commands()) {
      String name = spec.qualifiedName("-") + ".1";
      expected.add(name);
      String page = Files.readString(folder.resolve(name));
      Set<String> told = new TreeSet<>();
      for (String term : terms(page, "OPTIONS")) {
        Matcher option = OPTION.matcher(term.replaceAll("[=\\[].*", ""));
        while (option.find()) {
          told.add(option.group());
        }
      }
      assertEquals(shownOptions(spec), told, name);
      assertEquals(spec.positionalParameters().size(), terms(page, "ARGUMENTS").size(), name);
      List<String> codes = terms(page, "EXIT STATUS");
      assertEquals(List.of("0", "1", "2"), codes, name);
      List<String> subcommands = terms(page, "COMMANDS");
      assertEquals(List.copyOf(new TreeSet<>(subcommands)), subcommands.stream().sorted().toList());
    }
    Set<String> written = new TreeSet<>();
    try (var pages = Files.list(folder)) {
      pages.forEach(page -> written.add(page.getFileName().toString()));
    }
    assertEquals(expected, written);
  }

  @Test
  void usageTextsBeginWithNounOrVerb() {
    Pattern clause = Pattern.compile("^(%n)?(What(ever)?|Who(ever|m)?)\\b");
    List<String> found = new ArrayList<>();
    for (CommandSpec spec : commands()) {
      List<String> texts = new ArrayList<>(List.of(spec.usageMessage().description()));
      texts.addAll(List.of(spec.usageMessage().footer()));
      spec.args().forEach(each -> texts.addAll(List.of(each.description())));
      for (String text : texts) {
        if (clause.matcher(text).find()) {
          found.add(spec.qualifiedName() + ": " + text);
        }
      }
    }
    assertEquals(List.of(), found);
  }

  @Test
  void everyDefaultIsDescribed() {
    List<String> silent = new ArrayList<>();
    for (CommandSpec spec : commands()) {
      for (ArgSpec each : spec.args()) {
        String usual = each.defaultValue() == null ? null : each.defaultValueString();
        if (usual != null && !each.hidden() && each.arity().max() > 0) {
          String text = String.join(" ", each.renderedDescription());
          boolean inWords = IN_WORDS.matcher(text).find();
          if (!inWords && !text.toLowerCase(Locale.ROOT).contains(usual.toLowerCase(Locale.ROOT))) {
            silent.add(spec.qualifiedName() + " " + each + ": " + usual + " isn't in: " + text);
          }
        }
      }
    }
    assertEquals(List.of(), silent);
  }

  @Test
  void everyOptionHasAReadableLabel() {
    List<String> unnamed = new ArrayList<>();
    for (CommandSpec spec : commands()) {
      for (ArgSpec each : spec.args()) {
        if (!each.hidden() && each.arity().max() > 0) {
          if (!LABEL.matcher(each.paramLabel()).matches()) {
            unnamed.add(spec.qualifiedName() + " " + each + ": " + each.paramLabel());
          }
          if (String.join("", each.description()).isBlank()) {
            unnamed.add(spec.qualifiedName() + " " + each + " isn't described");
          }
        }
      }
    }
    assertEquals(List.of(), unnamed);
  }

  @Test
  void everyCommandHasHelpAndVersion() {
    CommandLine line = HeddleCommand.commandLine();
    for (CommandSpec spec : commands()) {
      List<String> words = new ArrayList<>(List.of(spec.qualifiedName().split(" ")));
      words.removeFirst();
      StringWriter out = new StringWriter();
      StringWriter err = new StringWriter();
      line.setOut(new PrintWriter(out, true));
      line.setErr(new PrintWriter(err, true));
      assertEquals(0, execute(line, words, "--version"), spec.qualifiedName());
      assertTrue(out.toString().startsWith("heddle "), spec.qualifiedName() + ": " + out);
      assertEquals(0, execute(line, words, "--help"), spec.qualifiedName());
      assertTrue(out.toString().contains("Usage: " + spec.qualifiedName()), out.toString());
      assertEquals(BROKEN_USAGE, execute(line, words, "--no-such-option"));
      assertTrue(
          err.toString().contains("See " + spec.qualifiedName() + " --help"), err.toString());
      if (!spec.subcommands().isEmpty() && spec.parent() != null) {
        assertEquals(BROKEN_USAGE, execute(line, words));
        assertTrue(err.toString().contains(spec.qualifiedName() + " requires one of: "));
      }
    }
  }

  private static int execute(CommandLine line, List<String> words, String... more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of(more));
    return line.execute(all.toArray(String[]::new));
  }

  @Test
  void wrapperListsEveryCommand() throws Exception {
    String wrapper = Files.readString(Checkout.path("heddle"));
    String usage = wrapper.substring(wrapper.indexOf("usage()"), wrapper.indexOf("\nTEXT\n"));
    for (CommandSpec spec : commands()) {
      if (spec.parent() != null && spec.parent().parent() == null) {
        assertTrue(usage.contains("\n  " + spec.name() + " "), spec.name() + " isn't in: " + usage);
      }
    }
  }
}
