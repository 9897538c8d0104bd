package io.heddle.systemtests;

import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Program that runs on another host and sends packets or bytes that no correct peer sends.
 * Arguments: udp|tcp, address, port, seed, count.
 */
final class HostileSender {
  private static final int BASE_HEADER_BYTES = 12;
  private static final int LARGEST_DATAGRAM_BYTES = 4_200;
  private static final int CONNECT_TIMEOUT_MS = 2_000;

  private HostileSender() {}

  public static void main(String[] arguments) throws Exception {
    InetSocketAddress target =
        new InetSocketAddress(InetAddress.ofLiteral(arguments[1]), Integer.parseInt(arguments[2]));
    Random random = new Random(Long.parseLong(arguments[3]));
    int count = Integer.parseInt(arguments[4]);
    if (arguments[0].equals("udp")) {
      datagrams(target, random, count);
    } else {
      connections(target, random, count);
    }
    System.out.println("sent " + count);
  }

  /*
   * Sends random packets, and packets with valid opcodes and small queue pair numbers, some of
   * which pass the receiver's first checks.
   */
  private static void datagrams(InetSocketAddress target, Random random, int count)
      throws Exception {
    try (DatagramSocket socket = new DatagramSocket()) {
      for (int i = 0; i < count; i++) {
        byte[] bytes = new byte[random.nextInt(LARGEST_DATAGRAM_BYTES)];
        random.nextBytes(bytes);
        if (random.nextBoolean() && bytes.length >= BASE_HEADER_BYTES) {
          bytes[0] = (byte) random.nextInt(0x20);
          bytes[1] = 0x40;
          bytes[2] = (byte) 0xff;
          bytes[3] = (byte) 0xff;
          bytes[5] = 0;
          bytes[6] = (byte) random.nextInt(2);
        }
        socket.send(new DatagramPacket(bytes, bytes.length, target));
        if (i % 16 == 15) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    }
  }

  private static void connections(InetSocketAddress target, Random random, int count)
      throws Exception {
    for (int i = 0; i < count; i++) {
      try (Socket socket = new Socket()) {
        socket.connect(target, CONNECT_TIMEOUT_MS);
        byte[] bytes = new byte[random.nextInt(600)];
        random.nextBytes(bytes);
        OutputStream stream = socket.getOutputStream();
        stream.write(bytes);
        stream.flush();
      } catch (java.net.SocketException refusedOrReset) {
        /* The rank may close the connection at any byte. */
      }
    }
  }
}
