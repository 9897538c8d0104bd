package io.heddle.systemtests;

import io.heddle.cli.lab.Skip;
import io.heddle.platform.LinuxCalls;
import java.io.IOException;
import java.util.List;

/** Mounts that one command sees and nobody else does. */
final class MountNamespace {
  private MountNamespace() {}

  /** Skips the test where they can't be made. */
  static void orSkip() throws IOException, InterruptedException {
    if (LinuxCalls.geteuid() != 0) {
      Skip.because("only root can mount for a command of its own");
    }
    if (new ProcessBuilder("unshare", "--mount", "true").start().waitFor() != 0) {
      Skip.because("this machine allows no mounts of a command's own");
    }
  }

  /** To stand before a command: it is run where this line of the shell has mounted something. */
  static List<String> with(String line) {
    return List.of("unshare", "--mount", "sh", "-ec", line + "\nexec \"$@\"", "sh");
  }

  /** To stand before a command: it sees what the process of this number sees. */
  static List<String> of(long pid) {
    return List.of("nsenter", "--mount", "--target", Long.toString(pid));
  }
}
