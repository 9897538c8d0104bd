package io.heddle.platform.testing;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Choice of TCP ports for servers that tests start with a port's number. */
public final class TcpPorts {
  private static final int FIRST = 20_000;
  private static final int COUNT = 12_000;
  private static final int TRIES = 100;

  private TcpPorts() {}

  /**
   * Returns a free port below those that the kernel gives to other sockets (ip_local_port_range).
   * So no other socket gets it before the test's server does.
   */
  public static int free() throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int port = FIRST + ThreadLocalRandom.current().nextInt(COUNT);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (BindException taken) {
        /* Another server has the port; the next try takes another. */
      }
    }
    throw new IOException("no port from " + FIRST + " to " + (FIRST + COUNT - 1) + " is free");
  }
}
