package io.heddle.cli.heddle;

import io.heddle.cli.kit.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a command prints to. Java's own streams drop what can't be written and say nothing; here the
 * first such write ends the command as a failure would, with all its cleaning up, and is told once.
 */
final class StandardOutput extends OutputStream {
  private static final Path FILE = Path.of("/proc/self/fd/1");

  /** As a shell tells of a program that the kernel ended by SIGPIPE. */
  static final int EXIT_NO_READER = 128 + 13;

  private final OutputStream to;
  private volatile @Nullable IOException loss;

  /** Something could not be written: the command is over. */
  static final class Lost extends RuntimeException {
    private static final long serialVersionUID = 1;

    Lost(IOException cause) {
      super(cause);
    }
  }

  StandardOutput(OutputStream to) {
    this.to = to;
  }

  /** Each line leaves at once. */
  PrintWriter writer() {
    return new PrintWriter(new OutputStreamWriter(this, System.out.charset()), true);
  }

  @Override
  public void write(int octet) {
    write(new byte[] {(byte) octet}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int count) {
    if (loss != null) {
      return; // the rest of what was lost already
    }
    try {
      to.write(bytes, offset, count);
    } catch (IOException failed) {
      loss = failed;
      throw new Lost(failed);
    }
  }

  /** The exit code that stands for what was lost; empty where all was written. */
  Optional<Integer> exitCode() {
    return loss == null
        ? Optional.empty()
        : Optional.of(isPipe() ? EXIT_NO_READER : ExitCode.FAILED);
  }

  /**
   * The sentence that tells of it; empty where there is nothing to tell: a reader that left knows.
   */
  Optional<String> sentence() {
    IOException lost = loss;
    return lost == null || isPipe()
        ? Optional.empty()
        : Optional.of("standard output can't be written: " + lost.getMessage());
  }

  /* Of a pipe there is one way to fail, whatever words the language of the day has for it. */
  private static boolean isPipe() {
    try {
      String target = Files.readSymbolicLink(FILE).toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException closed) {
      return false;
    }
  }
}
