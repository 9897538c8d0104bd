package io.heddle.cli.operate;

import io.heddle.bgpstub.daemon.ConfigParser;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Option {@code --control} of every command that queries the route daemon. */
public final class ControlOption {
  @Option(
      names = "--control",
      paramLabel = "FILE",
      description = "The route daemon's socket (${DEFAULT-VALUE}).")
  private Path socket = ConfigParser.DEFAULT_CONTROL;

  public Path socket() {
    return socket;
  }

  /** Sends a request to the daemon and returns its answer. */
  String request(String request) {
    return BgpSocket.request(socket, request);
  }
}
