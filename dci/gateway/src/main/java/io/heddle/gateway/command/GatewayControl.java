package io.heddle.gateway.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.QuestionSocket;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where the running gateway answers. */
final class GatewayControl {
  /** Only root may ask, since orders go the same way. */
  static final QuestionSocket.Daemon DAEMON =
      new QuestionSocket.Daemon("heddle-gateway", "gateway", "heddle gateway run", "rw-------");

  @Option(
      names = "--control",
      paramLabel = "FILE",
      defaultValue = "/run/heddle/gateway.sock",
      description = "The gateway's socket (${DEFAULT-VALUE}).")
  private Path socket = GatewayConfigParser.DEFAULT_CONTROL;

  /** The gateway's answer to a question, as it came. */
  String ask(String question) {
    return QuestionSocket.ask(DAEMON, socket, question);
  }

  <T> T ask(String question, Class<T> document) {
    try {
      return Json.mapper().readValue(ask(question), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          "the gateway's answer isn't understood; is it another release?", malformed);
    }
  }
}
