package io.heddle.softdevice;

/** Open receiving socket with the number of links that use it. Control path. */
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

  void addUser() {
    users++;
  }

  void removeUser() {
    users--;
  }

  boolean isUsed() {
    return users > 0;
  }
}
