package io.heddle.tools.soak;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Network without hosts, which records the injected faults, with ranks that are shell scripts. */
final class ScriptedRanks implements ChaosNetwork {
  /*
   * Script that prints the real driver's events. The plugin is a file with shell functions that
   * override those of the script.
   */
  private static final String DRIVER =
      """
      #!/bin/sh
      rank=$4
      traffic() {
        say traffic '"received": 5, "bytes": 500, "send": {"complete": true}, "receive": {"complete": true}'
      }
      end() { say end '"leaks": 0'; }
      finish() { exit 0; }
      say() { printf '{"event": "%s", "rank": %s, %s}\\n' "$1" "$rank" "$2"; }
      . "$2"
      while read -r word rest; do
        echo "$word $rest" >> "$2.heard-$rank"
        case $word in
          run) say start '"planes": 2'; traffic ;;
          close) end ;;
        esac
      done
      finish
      """;

  /** Recorded actions in order, as begin or undo with the fault's text. */
  final List<String> done = new ArrayList<>();

  int closed;

  /* File that exists once a fault has begun, for which the ranks' scripts wait. */
  private final Path begun;

  ScriptedRanks(Path begun) {
    this.begun = begun;
  }

  /** Returns programs of ranks that behave correctly, except for these lines of shell. */
  static ChaosPair.Programs programs(Path folder, String otherwise) throws IOException {
    Path driver = Files.writeString(folder.resolve("driver"), DRIVER);
    if (!driver.toFile().setExecutable(true)) {
      throw new IOException("can't make " + driver + " executable");
    }
    return new ChaosPair.Programs(
        Files.writeString(folder.resolve("plugin"), otherwise), driver, Map.of());
  }

  @Override
  public Lab lab() {
    return new Lab() {
      @Override
      public Kind kind() {
        return Kind.LOOPBACK;
      }

      @Override
      public LabPlan plan() {
        return new LabPlan(2, 2, 1500);
      }

      @Override
      public List<String> command(int rank, List<String> command) {
        return command;
      }

      @Override
      public Map<String, String> environment(int rank) {
        return Map.of("HOST_OF_RANK", Integer.toString(rank));
      }

      @Override
      public List<Long> sentBytesByPlane() {
        return List.of();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void settle() {
    done.add("settle");
  }

  @Override
  public void begin(ChaosEvent event) {
    done.add("begin " + event.fault().text());
    try {
      Files.writeString(begun, "");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void undo(ChaosEvent event) {
    done.add("undo " + event.fault().text());
  }

  @Override
  public void close() {
    closed++;
  }
}
