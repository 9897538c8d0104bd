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
 * Output stream of a command. PrintStream and PrintWriter of Java ignore failed writes. Here the
 * first failed write throws, so that the command ends with its cleanup; the failure is reported
 * once.
 */
final class StandardOutput extends OutputStream {
  private static final Path FILE = Path.of("/proc/self/fd/1");

  /** Exit code that a shell reports for a program ended by SIGPIPE. */
  static final int EXIT_NO_READER = 128 + 13;

  private final OutputStream to;
  private volatile @Nullable IOException loss;

  /** Exception that ends the command after a failed write. */
  static final class WriteFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    WriteFailed(IOException cause) {
      super(cause);
    }
  }

  StandardOutput(OutputStream to) {
    this.to = to;
  }

  /** Returns a writer that flushes each line. */
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
      return; // the remainder of an already failed write
    }
    try {
      to.write(bytes, offset, count);
    } catch (IOException failed) {
      loss = failed;
      throw new WriteFailed(failed);
    }
  }

  /** Returns the exit code of a command with a failed write; empty if no write failed. */
  Optional<Integer> exitCode() {
    return loss == null
        ? Optional.empty()
        : Optional.of(isPipe() ? EXIT_NO_READER : ExitCode.FAILED);
  }

  /**
   * Returns the sentence that reports the failed write. Empty if no write failed, or if a pipe's
   * reader has ended, which needs no report.
   */
  Optional<String> sentence() {
    IOException lost = loss;
    return lost == null || isPipe()
        ? Optional.empty()
        : Optional.of("standard output can't be written: " + lost.getMessage());
  }

  /*
   * Returns whether standard output is a pipe or a socket. A write to these fails only because the
   * reader has ended, so the localized message of the exception need not be parsed.
   */
  private static boolean isPipe() {
    try {
      String target = Files.readSymbolicLink(FILE).toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException closed) {
      return false;
    }
  }
}
