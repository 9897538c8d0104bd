package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Check of the Java runtime that the plugin would start, in the plugin's search order. */
final class JavaCheck implements Check {
  private static final Cause WRONG_HOME =
      new Cause(
          "java-home-wrong", "HEDDLE_JAVA_HOME names no Java runtime that the plugin can use");
  private static final Cause NONE =
      new Cause("java-missing", "there is no Java runtime that the plugin can use");
  /*
   * Variables with options for all Java programs. The plugin hides them from its Java
   * (java_tool_options.c), and start.sh hides them from the Java that runs this command.
   */
  private static final List<String> OPTIONS_OF_OTHERS =
      List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_AOT_VM_OPTIONS");
  private static final int OLDEST = 25;
  private static final List<String> SYSTEM_FOLDERS =
      List.of("/usr/lib/jvm/*", "/usr/lib64/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/*j[dr]*");
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)[^\"]*\"");
  private static final String REMEDY =
      "install the package with its own runtime, or a JDK 25, or name one in HEDDLE_JAVA_HOME";

  @Override
  public String name() {
    return "java";
  }

  @Override
  public String summary() {
    return "The Java runtime that the plugin starts: HEDDLE_JAVA_HOME, else the one beside the"
        + " plugin, else JAVA_HOME, else the first java in PATH, else one under /usr/lib/jvm"
        + " and similar folders. Also options in the environment that are meant for other"
        + " Java programs.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(WRONG_HOME, NONE);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>(runtime(host));
    List<String> others =
        OPTIONS_OF_OTHERS.stream().filter(name -> !host.setting(name).isEmpty()).toList();
    if (!others.isEmpty()) {
      findings.add(
          new Finding.Ok(
              "%s set for other Java programs: the plugin ignores %s, and takes its"
                      .formatted(
                          String.join(", ", others) + (others.size() == 1 ? " is" : " are"),
                          others.size() == 1 ? "it" : "them")
                  + " options from HEDDLE_JVM_OPTIONS"));
    }
    return findings;
  }

  private static List<Finding> runtime(Host host) {
    String wish = host.setting("HEDDLE_JAVA_HOME");
    if (!wish.isEmpty()) {
      String against = faultOf(Path.of(wish));
      return against == null
          ? ok(Path.of(wish), "HEDDLE_JAVA_HOME")
          : List.of(
              new Finding.Fault(
                  WRONG_HOME,
                  "HEDDLE_JAVA_HOME=" + wish + " " + against + "; the plugin then tries no other",
                  "unset it, or name a runtime of Java 25 or later"));
    }
    for (Candidate candidate : candidates(host)) {
      if (faultOf(candidate.home) == null) {
        return ok(candidate.home, candidate.source);
      }
    }
    return List.of(
        new Finding.Fault(
            NONE,
            "no runtime of Java 25 beside %s, in JAVA_HOME=%s, of the first java in PATH, or in %s"
                .formatted(
                    host.places().plugin(),
                    host.setting("JAVA_HOME"),
                    String.join(", ", SYSTEM_FOLDERS)),
            REMEDY));
  }

  private record Candidate(Path home, String source) {}

  /* Returns the runtimes that the plugin tries without HEDDLE_JAVA_HOME, in its order (jvm_find.c). */
  private static List<Candidate> candidates(Host host) {
    List<Candidate> found = new ArrayList<>();
    Path folder = host.places().plugin().toAbsolutePath().getParent();
    if (folder != null) {
      for (String name : List.of("jre", "runtime")) {
        found.add(new Candidate(folder.resolve(name), "beside the plugin"));
      }
    }
    String javaHome = host.setting("JAVA_HOME");
    if (!javaHome.isEmpty()) {
      found.add(new Candidate(Path.of(javaHome), "JAVA_HOME"));
    }
    Path first = homeInPath(host.setting("PATH"));
    if (first != null) {
      found.add(new Candidate(first, "PATH"));
    }
    for (String pattern : SYSTEM_FOLDERS) {
      inFolder(pattern).forEach(home -> found.add(new Candidate(home, pattern)));
    }
    return found;
  }

  /* Returns the runtime of the first java in PATH, through links; null if there is none. */
  private static @Nullable Path homeInPath(String path) {
    for (String folder : path.split(":")) {
      Path program = Path.of(folder + "/java");
      if (Files.isExecutable(program)) {
        try {
          Path real = program.toRealPath();
          Path bin = real.getParent();
          return bin != null && real.endsWith("bin/java") ? bin.getParent() : null;
        } catch (IOException gone) {
          return null;
        }
      }
    }
    return null;
  }

  /* Returns the runtimes that match a pattern, the oldest version first. */
  private static List<Path> inFolder(String pattern) {
    Path glob = Path.of(pattern);
    List<Path> homes = new ArrayList<>();
    try (var found =
        Files.newDirectoryStream(glob.getParent(), String.valueOf(glob.getFileName()))) {
      found.forEach(homes::add);
    } catch (IOException | DirectoryIteratorException none) {
      return List.of(); // the folder is missing or unreadable
    }
    homes.sort(
        Comparator.comparingInt(JavaCheck::version).thenComparing(Comparator.naturalOrder()));
    return homes;
  }

  private static List<Finding> ok(Path home, String source) {
    return List.of(new Finding.Ok("Java %s in %s (%s)".formatted(version(home), home, source)));
  }

  /* Returns why the plugin would reject this runtime; null if it would not. */
  private static @Nullable String faultOf(Path home) {
    if (!Files.exists(home.resolve("lib/server/libjvm.so"))) {
      return "has no lib/server/libjvm.so";
    }
    int version = version(home);
    return version >= OLDEST ? null : "is Java " + (version == 0 ? "of unknown version" : version);
  }

  private static int version(Path home) {
    String release = Host.text(home.resolve("release"));
    Matcher matcher = VERSION.matcher(release == null ? "" : release);
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
  }
}
