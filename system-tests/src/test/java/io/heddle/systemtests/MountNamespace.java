package io.heddle.systemtests;

import io.heddle.tools.lab.Skip;
import io.heddle.platform.LinuxCalls;
import java.io.IOException;
import java.util.List;

/** Mounts that only one command sees. */
final class MountNamespace {
  private MountNamespace() {}

  /** Skips the test if this machine doesn't permit mount namespaces. */
  static void orSkip() throws IOException, InterruptedException {
    if (LinuxCalls.geteuid() != 0) {
      Skip.because("only root can mount for a command of its own");
    }
    if (new ProcessBuilder("unshare", "--mount", "true").start().waitFor() != 0) {
      Skip.because("this machine allows no mounts of a command's own");
    }
  }

  /**
   * Returns the words to put before a command so that it runs in a new mount namespace, after this
   * shell line.
   */
  static List<String> with(String line) {
    return List.of("unshare", "--mount", "sh", "-ec", line + "\nexec \"$@\"", "sh");
  }

  /**
   * Returns the words to put before a command so that it runs in the mount namespace of this
   * process.
   */
  static List<String> of(long pid) {
    return List.of("nsenter", "--mount", "--target", Long.toString(pid));
  }
}
