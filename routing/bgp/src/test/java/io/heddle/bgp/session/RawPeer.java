package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.DecodeResult;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.KeepaliveMessage;
import io.heddle.bgp.wire.MessageDecoder;
import io.heddle.bgp.wire.MessageEncoder;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgp.wire.WireOptions;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Scripted peer over a plain Java socket. */
final class RawPeer implements AutoCloseable {
  static final InetAddress LOOPBACK = InetAddress.ofLiteral("::1");

  private final ServerSocket server;
  private WireOptions options = WireOptions.DEFAULT;
  private Socket socket;

  RawPeer() throws IOException {
    server = new ServerSocket(0, 5, LOOPBACK);
    server.setSoTimeout(20_000);
  }

  int port() {
    return server.getLocalPort();
  }

  void accept() throws IOException {
    socket = server.accept();
    socket.setSoTimeout(20_000);
    socket.setTcpNoDelay(true);
  }

  void connect(int port) throws IOException {
    socket = new Socket(LOOPBACK, port);
    socket.setSoTimeout(20_000);
    socket.setTcpNoDelay(true);
  }

  OpenMessage open(int holdTime, Capability... more) {
    List<Capability> all = new ArrayList<>(List.of(more));
    all.add(new Capability.Multiprotocol(AddressFamily.IPV6_UNICAST));
    all.add(new Capability.FourOctetAs(65002));
    all.add(new Capability.RouteRefresh());
    return new OpenMessage(65002, holdTime, 1, all, false);
  }

  /** Writes and reads messages of up to 65535 bytes from now on, regardless of the negotiation. */
  void extendMessages() {
    options =
        new WireOptions(
            true,
            true,
            true,
            false,
            BgpMessage.MAX_EXTENDED_BYTES,
            CodePoints.DEFAULT,
            Families.IPV6_UNICAST);
  }

  /** Reads and writes routes of these families from now on, regardless of the negotiation. */
  void speak(Families families) {
    options = options.withFamilies(families);
  }

  void establish(Capability... more) throws IOException {
    accept();
    send(open(30, more));
    send(KeepaliveMessage.INSTANCE);
    assertInstanceOf(OpenMessage.class, read());
    assertEquals(KeepaliveMessage.INSTANCE, read());
    assertEquals(UpdateMessage.END_OF_RIB, read());
  }

  void send(BgpMessage message) throws IOException {
    send(new MessageEncoder(options).encode(message));
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /** Returns the next message; null at the end of the connection. */
  DecodeResult read() throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] header = in.readNBytes(BgpMessage.HEADER_BYTES);
    if (header.length < BgpMessage.HEADER_BYTES) {
      return null;
    }
    int length = MessageDecoder.messageBytes(header, 0);
    byte[] whole = java.util.Arrays.copyOf(header, length);
    in.readFully(whole, header.length, length - header.length);
    return new MessageDecoder(options).decode(whole, 0, length);
  }

  void drop() throws IOException {
    socket.close();
  }

  @Override
  public void close() throws IOException {
    if (socket != null) {
      socket.close();
    }
    server.close();
  }
}
