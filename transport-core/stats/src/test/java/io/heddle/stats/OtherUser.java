package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.ProcessCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * Maker of another user's files, and of file systems without room or rights, for tests. Only root
 * can make these.
 */
final class OtherUser {
  static final int USER = 65_534;

  private OtherUser() {}

  /** Skips the test unless root runs it. */
  static void skipUnlessRoot() {
    if (ProcessCalls.geteuid() != 0) {
      String reason = "only root can make files of another user, and mount file systems";
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
  }

  /** Gives a file, or a link itself, to the other user. */
  static Path giveToOther(Path file) throws IOException {
    Files.setAttribute(file, "unix:uid", USER, LinkOption.NOFOLLOW_LINKS);
    return file;
  }

  /** Mounts a tmpfs with these options over a folder; skips the test if that isn't allowed. */
  static void mount(Path folder, String options) throws IOException, InterruptedException {
    skipUnlessRoot();
    if (run("mount", "-t", "tmpfs", "-o", options, "heddle-test", folder.toString()) != 0) {
      String reason = "root may not mount here";
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
  }

  static void unmount(Path folder) throws IOException, InterruptedException {
    assertEquals(0, run("umount", "--lazy", folder.toString()));
  }

  /** Runs a program as the other user; returns its exit code. */
  static int runAsOther(String... command) throws IOException, InterruptedException {
    List<String> all =
        new ArrayList<>(
            List.of(
                "setpriv",
                "--reuid",
                Integer.toString(USER),
                "--regid",
                Integer.toString(USER),
                "--clear-groups"));
    all.addAll(List.of(command));
    return run(all.toArray(String[]::new));
  }

  static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
