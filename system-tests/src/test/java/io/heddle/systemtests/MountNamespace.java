package io.heddle.systemtests;

import io.heddle.platform.ProcessCalls;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.util.List;

/** Mount namespaces for single commands, so that only the command sees its mounts. */
final class MountNamespace {
  private MountNamespace() {}

  /** Skips the test if this machine doesn't permit mount namespaces. */
  static void orSkip() throws IOException, InterruptedException {
    if (ProcessCalls.geteuid() != 0) {
      Skip.because("only root can mount for a command of its own");
    }
    if (new ProcessBuilder("unshare", "--mount", "true").start().waitFor() != 0) {
      Skip.because("this machine allows no mounts of a command's own");
    }
  }

  /**
   * Returns the words in front of a command that run it in a new mount namespace, after this line
   * of shell code.
   */
  static List<String> with(String line) {
    return List.of("unshare", "--mount", "sh", "-ec", line + "\nexec \"$@\"", "sh");
  }

  /** Returns the words in front of a command that run it in the mount namespace of a process. */
  static List<String> of(long pid) {
    return List.of("nsenter", "--mount", "--target", Long.toString(pid));
  }
}
