package io.heddle.systemtests.style;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Dependency graphs of the C files of each folder. A file depends on another file of its folder if
 * it names a function or variable that the other one defines and a header declares.
 */
final class CFileGraphs {
  private static final Pattern IGNORED =
      Pattern.compile("/\\*.*?\\*/|//[^\\n]*|\"(?:\\\\.|[^\"\\\\\\n])*\"", Pattern.DOTALL);
  private static final String NOT_SHARED = "^(?!(?:static|typedef|extern|return|else)\\b)";
  private static final Pattern FUNCTION =
      Pattern.compile(NOT_SHARED + "\\w[\\w *]*?\\b(\\w+)\\([^;{}]*\\)\\s*\\{", Pattern.MULTILINE);
  private static final Pattern VARIABLE =
      Pattern.compile(
          NOT_SHARED + "(?:\\w+[ *]+)+(\\w+)(?:\\[[^\\]]*\\])*\\s*[=;]", Pattern.MULTILINE);
  private static final Pattern DECLARED =
      Pattern.compile(
          "^extern\\b[^;(]*?\\b(\\w+)(?:\\[[^\\]]*\\])*;|\\b(\\w+)\\(", Pattern.MULTILINE);
  private static final Pattern NAME = Pattern.compile("\\b[A-Za-z_]\\w*\\b");

  private CFileGraphs() {}

  /** Returns the files that each C file uses, by folder. */
  static Map<String, Map<String, Set<String>>> byFolder() throws IOException, InterruptedException {
    Set<String> declared = new HashSet<>();
    Map<String, Map<String, String>> texts = new TreeMap<>();
    for (Path file : Repository.files()) {
      String name = Repository.name(file);
      if (name.endsWith(".h")) {
        declared.addAll(names(DECLARED, text(file)));
      } else if (name.endsWith(".c")) {
        texts
            .computeIfAbsent(Repository.name(file.getParent()), folder -> new TreeMap<>())
            .put(file.getFileName().toString(), text(file));
      }
    }
    Map<String, Map<String, Set<String>>> graphs = new TreeMap<>();
    texts.forEach((folder, files) -> graphs.put(folder, graph(files, declared)));
    return graphs;
  }

  /**
   * Returns the files that each file uses.
   *
   * @param files text of each file, by its name
   * @param declared names that headers declare
   */
  static Map<String, Set<String>> graph(Map<String, String> files, Set<String> declared) {
    Map<String, List<String>> definers = new HashMap<>();
    files.forEach((file, text) -> {
      Set<String> defined = names(FUNCTION, text);
      defined.addAll(names(VARIABLE, text));
      defined.retainAll(declared);
      defined.forEach(name -> definers.computeIfAbsent(name, key -> new ArrayList<>()).add(file));
    });
    Map<String, Set<String>> graph = new TreeMap<>();
    files.forEach((file, text) -> {
      Set<String> used = new TreeSet<>();
      for (String name : names(NAME, text)) {
        List<String> by = definers.getOrDefault(name, List.of());
        /* A name that several files define, such as main, is of several programs. */
        if (by.size() == 1 && !by.contains(file)) {
          used.addAll(by);
        }
      }
      graph.put(file, used);
    });
    return graph;
  }

  private static Set<String> names(Pattern pattern, String text) {
    Set<String> names = new HashSet<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      for (int group = Math.min(1, matcher.groupCount()); group <= matcher.groupCount(); group++) {
        if (matcher.group(group) != null) {
          names.add(matcher.group(group));
        }
      }
    }
    return names;
  }

  private static String text(Path file) throws IOException {
    return IGNORED.matcher(Files.readString(file)).replaceAll(" ");
  }
}
