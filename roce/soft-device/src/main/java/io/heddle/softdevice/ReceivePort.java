package io.heddle.softdevice;

/** An open receiving socket, and how many links of queue pairs receive by it. Control path. */
final class ReceivePort {
  private final UdpSocket socket;
  private final int bufferBytes;
  private int users;

  ReceivePort(UdpSocket socket) {
    this.socket = socket;
    bufferBytes = socket.receiveBufferBytes();
  }

  UdpSocket socket() {
    return socket;
  }

  int bufferBytes() {
    return bufferBytes;
  }

  int port() {
    return socket.port();
  }

  void use() {
    users++;
  }

  void releaseUse() {
    users--;
  }

  boolean isUsed() {
    return users > 0;
  }
}
