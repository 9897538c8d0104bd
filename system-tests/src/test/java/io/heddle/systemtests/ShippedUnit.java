package io.heddle.systemtests;

import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Shipped systemd units, and commands that run a daemon under a unit's restrictions without
 * systemd.
 */
final class ShippedUnit {
  /**
   * User ID of the confined daemon. No user of the host has it, so files of this owner are the
   * daemon's.
   */
  static final int USER = 64_999;

  private static final Path REPOSITORY = Path.of("").toAbsolutePath().getParent();
  private static final Path PYTHON = Path.of("/usr/bin/python3");

  private ShippedUnit() {}

  static void requireSystemd() {
    if (!Files.isExecutable(Path.of("/usr/bin/systemd-analyze"))) {
      Skip.because("no systemd-analyze here: apt-get install systemd");
    }
  }

  static String text(String unit) throws IOException {
    return Files.readString(REPOSITORY.resolve("packaging/" + unit + ".service"));
  }

  /**
   * Writes a unit to a file, with an existing program in place of the command, which systemd's
   * checks require.
   */
  static Path write(Path file, String text) throws IOException {
    return Files.writeString(file, text.replace("@HEDDLE@", "/bin/sh"));
  }

  /**
   * Returns the words in front of a command that run it under the unit's restrictions. The caller
   * must be root.
   *
   * @param runtime folder in place of the unit's runtime directory; the unit's user becomes its
   *     owner
   */
  static List<String> confined(String unit, Path runtime) throws IOException {
    Path program = runtime.resolve("as-unit.py");
    try (InputStream script = ShippedUnit.class.getResourceAsStream("as-unit.py")) {
      Files.copy(Objects.requireNonNull(script), program);
    }
    Path file = write(runtime.resolve("unit"), text(unit));
    Files.setAttribute(runtime, "unix:uid", USER);
    return List.of(
        Files.isExecutable(PYTHON) ? PYTHON.toString() : "python3",
        program.toString(),
        file.toString(),
        Integer.toString(USER),
        runtime.toString());
  }

  /** Returns the fields of {@code /proc/PID/status} by key. */
  static Map<String, String> status(long pid) throws IOException {
    Map<String, String> status = new LinkedHashMap<>();
    for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
      String[] parts = line.split(":\t", 2);
      status.put(parts[0], parts.length < 2 ? "" : parts[1]);
    }
    return status;
  }
}
