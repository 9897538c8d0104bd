package io.heddle.cli.kit;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/**
 * Option {@code --config} of the commands that read a daemon's configuration. Each daemon has a
 * subclass with its default file.
 */
public abstract class ConfigOption {
  /** Exit code of {@code check} for a valid configuration, as in {@code exitCodeList}. */
  public static final String VALID = "0:The configuration is valid.";

  /** Exit code of {@code check} for an invalid configuration, as in {@code exitCodeList}. */
  public static final String INVALID = "1:It isn't.";

  /** Exit code of a {@code check} that also looks at the host, as in {@code exitCodeList}. */
  public static final String INVALID_HERE = "1:It isn't, or this host has a fault.";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The configuration (${DEFAULT-VALUE}).")
  private Path file;

  protected ConfigOption(Path standard) {
    file = standard;
  }

  public Path file() {
    return file;
  }
}
