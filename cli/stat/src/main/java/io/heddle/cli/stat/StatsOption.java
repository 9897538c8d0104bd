package io.heddle.cli.stat;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --stats}, of every command that looks at running jobs. */
public final class StatsOption {
  @Option(
      names = "--stats",
      paramLabel = "FOLDER",
      description = "Where jobs leave their statistics (under /dev/shm unless said).")
  private @Nullable Path folder;

  public StatsFolders folders() {
    return new StatsFolders(folder());
  }

  /** The folder that was named, behind a link too; null for the usual ones. */
  public @Nullable Path folder() {
    if (folder == null) {
      return null;
    }
    try {
      return folder.toRealPath();
    } catch (IOException none) {
      return folder; // who reads there says why it can't
    }
  }
}
