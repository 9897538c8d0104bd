package io.heddle.softdevice.io;

/** Open receiving socket with the number of links that use it. Control path. */
public final class ReceivePort {
  private final UdpSocket socket;
  private final int bufferBytes;
  private int users;

  public ReceivePort(UdpSocket socket) {
    this.socket = socket;
    bufferBytes = socket.receiveBufferBytes();
  }

  public UdpSocket socket() {
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

  public boolean isUsed() {
    return users > 0;
  }
}
