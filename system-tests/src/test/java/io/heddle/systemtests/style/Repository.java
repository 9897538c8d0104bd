package io.heddle.systemtests.style;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The checkout that these tests run in. */
final class Repository {
  static final Path ROOT = root();

  /* A tool's output: what it looks like is the tool's affair. */
  private static final Path GENERATED = ROOT.resolve("jextract/src/main");

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
   * The files that belong to the repository: what git tracks or would, or everything unbuilt where
   * there's no git.
   */
  static List<Path> files() throws IOException, InterruptedException {
    if (Files.exists(ROOT.resolve(".git"))) {
      Process git =
          new ProcessBuilder(
                  "git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard")
              .directory(ROOT.toFile())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (git.waitFor() != 0) {
        throw new IllegalStateException("git ls-files failed");
      }
      return Stream.of(names.split("\0")).map(ROOT::resolve).filter(Files::isRegularFile).toList();
    }
    try (Stream<Path> all = Files.walk(ROOT)) {
      return all.filter(Files::isRegularFile).filter(Repository::isNotBuilt).toList();
    }
  }

  /** The Java files that people write. */
  static List<Path> javaFiles() throws IOException, InterruptedException {
    return files().stream()
        .filter(file -> file.toString().endsWith(".java") && !file.startsWith(GENERATED))
        .toList();
  }

  /** The compiled production classes of every module. */
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
