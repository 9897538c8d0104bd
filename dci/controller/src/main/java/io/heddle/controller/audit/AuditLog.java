package io.heddle.controller.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import io.heddle.controller.model.Decision;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.solver.PolicyVerdict;
import io.heddle.controller.solver.Round;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;

/**
 * Append-only log of rounds, as a file of JSON lines. A line is written as a whole, or the write
 * fails. Used by one thread.
 */
public final class AuditLog implements AutoCloseable {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);

  /** Line of the log: one round. */
  private record Line(
      String time,
      NetworkSnapshot inputs,
      List<PolicyVerdict> verdicts,
      List<Round.Refused> refused,
      List<Choice> choices) {}

  private record Choice(String action, Decision decision) {
    static Choice of(Decision decision) {
      return new Choice(decision instanceof Decision.Move ? "move" : "withdraw", decision);
    }
  }

  private final SeekableByteChannel channel;

  /**
   * Opens a file, or creates it.
   *
   * @throws IOException if the file can't be opened for appending
   */
  public AuditLog(Path file) throws IOException {
    this(
        Files.newByteChannel(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
  }

  /**
   * Creates a log on the given channel.
   *
   * @param channel channel that appends everything that is written to it
   */
  public AuditLog(SeekableByteChannel channel) {
    this.channel = channel;
  }

  /**
   * Appends a round.
   *
   * @throws IOException if the round couldn't be written; the file is then unchanged, and the
   *     caller must not apply this round or a later one until a write succeeds
   */
  public void append(Instant time, NetworkSnapshot inputs, Round round) throws IOException {
    ByteBuffer line = ByteBuffer.wrap(line(time, inputs, round).getBytes(StandardCharsets.UTF_8));
    long before = channel.size();
    try {
      while (line.hasRemaining()) {
        channel.write(line);
      }
    } catch (IOException failed) {
      truncateTo(before, failed);
      throw failed;
    }
  }

  /*
   * Removes a line that was written only in part, for example because the disk was full. Otherwise
   * the next line would be appended to that part.
   */
  private void truncateTo(long before, IOException failed) {
    try {
      if (channel.size() > before) {
        channel.truncate(before);
      }
    } catch (IOException torn) {
      failed.addSuppressed(torn);
    }
  }

  static String line(Instant time, NetworkSnapshot inputs, Round round)
      throws JsonProcessingException {
    return MAPPER.writeValueAsString(
            new Line(
                time.toString(),
                inputs,
                round.verdicts(),
                round.refused(),
                round.decisions().stream().map(Choice::of).toList()))
        + "\n";
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
