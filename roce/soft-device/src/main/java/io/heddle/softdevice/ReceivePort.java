package io.heddle.softdevice;

/** An open receiving socket. */
record ReceivePort(UdpSocket socket, int bufferBytes) {
  int port() {
    return socket.port();
  }
}
