package io.heddle.tools.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reader of the git commit of the checkout that this command was built from. */
final class Commit {
  private Commit() {}

  /**
   * Returns the short hash, with {@code +} if files differ from the commit; {@code unknown} outside
   * git.
   */
  static String of(Path root) throws InterruptedException {
    try {
      String name = git(root, "rev-parse", "--short=12", "HEAD");
      return name.isEmpty()
          ? "unknown"
          : name
              + (git(root, "status", "--porcelain", "--untracked-files=no").isEmpty() ? "" : "+");
    } catch (IOException noGit) {
      return "unknown";
    }
  }

  private static String git(Path root, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(List.of("git", "-c", "safe.directory=*", "-C", root.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() == 0 ? output.strip() : "";
  }
}
