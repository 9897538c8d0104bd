package io.heddle.cli.controller;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.QuestionSocket;
import io.heddle.controller.network.NetworkParser;
import io.heddle.controller.run.Controller;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Option;

/** Where the running controller answers, and what. */
final class ControllerControl {
  static final QuestionSocket.Daemon DAEMON =
      new QuestionSocket.Daemon(
          "heddle-controller", "controller", "heddle controller run", "rw-------");

  private static final String SHOW = "show";
  private static final String AUDIT = "audit";

  @Option(
      names = "--control",
      paramLabel = "FILE",
      defaultValue = "/run/heddle/controller.sock",
      description = "The controller's socket (${DEFAULT-VALUE}).")
  private Path socket = NetworkParser.DEFAULT_CONTROL;

  static Object answer(Controller controller, String question) {
    return switch (question.strip()) {
      case SHOW -> controller.overview();
      case AUDIT -> controller.audit();
      default -> Map.of("error", "there is no question " + question.strip());
    };
  }

  <T> T show(Class<T> document) {
    return ask(SHOW, document);
  }

  <T> T audit(Class<T> document) {
    return ask(AUDIT, document);
  }

  private <T> T ask(String question, Class<T> document) {
    try {
      return Json.mapper().readValue(QuestionSocket.ask(DAEMON, socket, question), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          "the controller's answer isn't understood; is it another release?", malformed);
    }
  }
}
