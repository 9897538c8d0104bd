package io.heddle.cli.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Settings of a job from its environment and NCCL's files, read as NCCL reads them (misc/param.cc):
 * the file that NCCL_CONF_FILE names, or else {@code ~/.nccl.conf}, then {@code /etc/nccl.conf}.
 * The first file that sets a variable wins. The environment wins over all files, even with an empty
 * value.
 *
 * @param environment all settings of the job
 * @param origins source file of each variable that a file set, by the variable's name
 * @param overridden sentences about lines without effect, since an earlier source sets the variable
 *     to another value
 * @param suspect sentences about lines that NCCL ignores, or whose blanks or comment NCCL reads as
 *     part of the setting
 * @param missing the unreadable file that NCCL_CONF_FILE names; empty for none
 */
record NcclFiles(
    Map<String, String> environment,
    Map<String, Path> origins,
    List<String> overridden,
    List<String> suspect,
    String missing) {
  private static final String NAMED = "NCCL_CONF_FILE";
  private static final Path SYSTEM = Path.of("/etc/nccl.conf");
  /* Maximum length of a name or a value. NCCL truncates longer ones. */
  private static final int LONGEST = 1023;

  /** Returns the settings of a job that reads no files. */
  static NcclFiles none(Map<String, String> environment) {
    return new NcclFiles(environment, Map.of(), List.of(), List.of(), "");
  }

  static NcclFiles read(Map<String, String> environment) {
    return read(environment, Path.of(System.getProperty("user.home", "/")), SYSTEM);
  }

  /**
   * Reads the settings of a job.
   *
   * @param home the user's home folder, from the user database
   * @param system NCCL's file for all users
   */
  static NcclFiles read(Map<String, String> environment, Path home, Path system) {
    Reading reading = new Reading(environment);
    String named = environment.getOrDefault(NAMED, "");
    String missing = "";
    if (named.isEmpty()) {
      reading.add(home.resolve(".nccl.conf"));
    } else if (!reading.add(Path.of(named))) {
      missing = named;
    }
    reading.add(system);
    return new NcclFiles(
        Map.copyOf(reading.environment),
        reading.origins,
        List.copyOf(reading.overridden),
        List.copyOf(reading.suspect),
        missing);
  }

  private static final class Reading {
    private final Map<String, String> environment;
    private final Map<String, Path> origins = new TreeMap<>();
    private final List<String> overridden = new ArrayList<>();
    private final List<String> suspect = new ArrayList<>();

    Reading(Map<String, String> environment) {
      this.environment = new HashMap<>(environment);
    }

    /*
     * Reads a file; returns whether it could be read. Latin-1 maps each byte to one character, so
     * lines that aren't UTF-8 can be read too.
     */
    boolean add(Path file) {
      String text;
      try {
        text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
      } catch (IOException unreadable) {
        return false;
      }
      int number = 0;
      for (String line : text.split("\n", -1)) {
        number++;
        int end = line.indexOf('\0');
        take(file, number, end < 0 ? line : line.substring(0, end));
      }
      return true;
    }

    private void take(Path file, int number, String line) {
      if (line.isEmpty() || line.charAt(0) == '#') {
        return;
      }
      String where = file + ":" + number;
      int equals = line.indexOf('=');
      if (equals <= 0) {
        if (!line.isBlank()) {
          suspect.add(where + ": \"" + line + "\" is no NAME=VALUE; NCCL ignores it");
        }
        return;
      }
      String name = cut(line.substring(0, equals));
      String value = cut(line.substring(equals + 1));
      if (!name.equals(name.strip()) || !value.equals(value.strip())) {
        suspect.add(
            "%s: \"%s\" has blanks that NCCL takes as part of the name or the value"
                .formatted(where, line));
      } else if (value.contains(" #")) {
        suspect.add(where + ": \"" + line + "\": NCCL takes the comment as part of the value");
      }
      if (!environment.containsKey(name)) {
        environment.put(name, value);
        origins.put(name, file);
      } else if (!environment.get(name).equals(value)) {
        overridden.add(
            "%s: %s=%s has no effect: %s set it to %s before"
                .formatted(
                    where,
                    name,
                    value,
                    origins.containsKey(name) ? origins.get(name) : "the environment",
                    environment.get(name)));
      }
    }

    private static String cut(String text) {
      return text.substring(0, Math.min(LONGEST, text.length()));
    }
  }
}
