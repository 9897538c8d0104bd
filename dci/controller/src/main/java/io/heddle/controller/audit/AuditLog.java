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

/** A file of JSON lines. A line is written whole or the write fails. One thread. */
public final class AuditLog implements AutoCloseable {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);

  /** One line. */
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
   * @throws IOException where the file can't be opened for appending
   */
  public AuditLog(Path file) throws IOException {
    this(
        Files.newByteChannel(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
  }

  /**
   * A log that goes elsewhere.
   *
   * @param channel that appends whatever is written
   */
  public AuditLog(SeekableByteChannel channel) {
    this.channel = channel;
  }

  /**
   * Appends a round.
   *
   * @throws IOException where it isn't written; the file is as before, and the caller decides
   *     nothing more until it is
   */
  public void append(Instant time, NetworkSnapshot inputs, Round round) throws IOException {
    ByteBuffer line = ByteBuffer.wrap(line(time, inputs, round).getBytes(StandardCharsets.UTF_8));
    long before = channel.size();
    try {
      while (line.hasRemaining()) {
        channel.write(line);
      }
    } catch (IOException failed) {
      takeBack(before, failed);
      throw failed;
    }
  }

  /* A full disk takes a part of a line, and the next line would go on in its middle. */
  private void takeBack(long before, IOException failed) {
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
