package io.heddle.systemtests.style;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Runner of clang-format, if it is installed. Only version 14 breaks lines as the sources do. */
final class ClangFormat {
  static final String MISSING = "no clang-format 14 on the path (on Debian: clang-format-14)";

  private ClangFormat() {}

  static Optional<Path> find() throws Exception {
    for (String name : List.of("clang-format-14", "clang-format")) {
      Optional<Path> found =
          Stream.of(System.getenv("PATH").split(":"))
              .map(folder -> Path.of(folder, name))
              .filter(Files::isExecutable)
              .findFirst();
      if (found.isPresent()
          && output(found.get().toString(), "--version").contains("version 14.")) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }
}
