package io.heddle.cli.operate;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --control}, of every command that asks the route daemon. */
public final class ControlOption {
  @Option(
      names = "--control",
      paramLabel = "FILE",
      defaultValue = "/run/heddle/bgp.sock",
      description = "The route daemon's socket (${DEFAULT-VALUE}).")
  private Path socket = Path.of("");

  public Path socket() {
    return socket;
  }

  /** The daemon's answer to a question. */
  String ask(String question) {
    return BgpSocket.ask(socket, question);
  }
}
