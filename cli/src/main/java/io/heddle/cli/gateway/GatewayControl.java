package io.heddle.cli.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.daemon.ControlSocket;
import io.heddle.gateway.config.GatewayConfigParser;
import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Client of the running gateway's control socket. */
final class GatewayControl {
  /** Names and rights of the socket. Only root has access, since the socket accepts orders too. */
  static final ControlSocket.Daemon DAEMON =
      new ControlSocket.Daemon("heddle-gateway", "gateway", "heddle gateway run", "rw-------");

  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The gateway's socket (${DEFAULT-VALUE}).")
  private Path socket = GatewayConfigParser.DEFAULT_CONTROL;

  /** Returns the gateway's answer, unparsed. */
  String request(String question) {
    return ControlSocket.request(DAEMON, socket, question);
  }

  <T> T request(String question, Class<T> document) {
    try {
      return Json.mapper().readValue(request(question), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          "the gateway's answer can't be parsed; check that it is of the same release", malformed);
    }
  }
}
