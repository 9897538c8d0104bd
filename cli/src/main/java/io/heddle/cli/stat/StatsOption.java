package io.heddle.cli.stat;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Option {@code --stats} of every command that reads the statistics of running jobs. */
public final class StatsOption {
  @Option(
      names = "--stats",
      paramLabel = "FOLDER",
      description = "Folder of the jobs' statistics (under /dev/shm unless said).")
  private @Nullable Path folder;

  public StatsFolders folders() {
    return new StatsFolders(folder());
  }

  /** Returns the folder that the option names, with links resolved; null without the option. */
  public @Nullable Path folder() {
    if (folder == null) {
      return null;
    }
    try {
      return folder.toRealPath();
    } catch (IOException none) {
      return folder; // the reader reports why it can't be read
    }
  }
}
