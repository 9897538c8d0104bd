package io.heddle.systemtests.style;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Files of the checkout in which these tests run. */
final class Repository {
  static final Path ROOT = root();

  /* Folder of generated sources, whose style isn't checked. */
  private static final Path GENERATED = ROOT.resolve("jextract/src/main");

  private static final boolean IS_GIT = Files.exists(ROOT.resolve(".git"));

  private Repository() {}

  private static Path root() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve("ARCHITECTURE.md"))) {
        return at;
      }
    }
    throw new IllegalStateException("not inside a checkout: " + Path.of("").toAbsolutePath());
  }

  /**
   * Returns the files of the repository. With git, these are all files that git doesn't ignore;
   * without git, all files except build outputs.
   */
  static List<Path> files() throws IOException, InterruptedException {
    if (IS_GIT) {
      return git("ls-files", "-z", "-co", "--exclude-standard").stream()
          .map(ROOT::resolve)
          .filter(Files::isRegularFile)
          .toList();
    }
    try (Stream<Path> all = Files.walk(ROOT)) {
      return all.filter(Files::isRegularFile).filter(Repository::isNotBuilt).toList();
    }
  }

  /**
   * Returns the Java files to check for style. In CI (the variable {@code CI} is set) and without
   * git, these are all Java files. Otherwise they are those that differ from the branch {@code
   * origin/HEAD}, or from the last commit if there is no such branch.
   */
  static List<Path> javaFilesToCheck() throws IOException, InterruptedException {
    if (System.getenv("CI") != null || !IS_GIT) {
      return javaFiles();
    }
    List<String> upstream =
        git("for-each-ref", "--format=%(refname)", "refs/remotes/origin/HEAD").stream()
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .toList();
    String base = upstream.isEmpty() ? "HEAD" : upstream.getFirst();
    Set<Path> changed = new HashSet<>();
    git("diff", "-z", "--name-only", base).forEach(name -> changed.add(ROOT.resolve(name)));
    git("ls-files", "-z", "-o", "--exclude-standard")
        .forEach(name -> changed.add(ROOT.resolve(name)));
    return javaFiles().stream().filter(changed::contains).toList();
  }

  private static List<String> git(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-c", "safe.directory=*"));
    command.addAll(List.of(words));
    Process git =
        new ProcessBuilder(command)
            .directory(ROOT.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (git.waitFor() != 0) {
      throw new IllegalStateException(String.join(" ", command) + " failed");
    }
    return Stream.of(names.split("\0")).filter(name -> !name.isEmpty()).toList();
  }

  /** Returns the Java files that aren't generated. */
  static List<Path> javaFiles() throws IOException, InterruptedException {
    return files().stream()
        .filter(file -> file.toString().endsWith(".java") && !file.startsWith(GENERATED))
        .toList();
  }

  /** Returns the folders of the compiled production classes of every module. */
  static List<Path> classFolders() throws IOException {
    try (Stream<Path> folders = Files.walk(ROOT, 2)) {
      return folders
          .filter(folder -> Files.exists(folder.resolve("pom.xml")))
          .map(module -> module.resolve("target/classes"))
          .filter(Files::isDirectory)
          .toList();
    }
  }

  static String name(Path file) {
    return ROOT.relativize(file).toString();
  }

  private static boolean isNotBuilt(Path file) {
    for (Path part : ROOT.relativize(file)) {
      if (part.toString().equals("target") || part.toString().equals(".build")) {
        return false;
      }
    }
    return true;
  }
}
