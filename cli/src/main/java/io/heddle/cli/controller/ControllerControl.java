package io.heddle.cli.controller;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.controller.network.NetworkParser;
import io.heddle.controller.run.Controller;
import io.heddle.daemon.ControlSocket;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Requests to the running controller over its control socket, and their answers. */
final class ControllerControl {
  static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon(
          "heddle-controller", "controller", "heddle controller run", "rw-------");

  private static final String SHOW = "show";
  private static final String AUDIT = "audit";

  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The controller's socket (${DEFAULT-VALUE}).")
  private Path socket = NetworkParser.DEFAULT_CONTROL;

  static String answer(Controller controller, String question) {
    return switch (question.strip()) {
      case SHOW -> Json.of(controller.overview());
      case AUDIT -> Json.of(controller.audit());
      default -> throw new HeddleException("there is no request " + question.strip());
    };
  }

  <T> T show(Class<T> document) {
    return request(SHOW, document);
  }

  <T> T audit(Class<T> document) {
    return request(AUDIT, document);
  }

  private <T> T request(String question, Class<T> document) {
    try {
      return Json.mapper().readValue(ControlSocket.request(DAEMON, socket, question), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          "the controller's answer can't be parsed; is it of another release?", malformed);
    }
  }
}
