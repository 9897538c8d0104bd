package io.heddle.tools.lab;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * Main class of {@link LabTest}'s processes. Over each plane, rank 0 sends one datagram to the last
 * rank and waits for the echo.
 */
final class PlaneEcho {
  private static final int PORT = 9;
  private static final int UNPRIVILEGED_PORT = 20_009;
  private static final int TIMEOUT_MS = 10_000;

  private PlaneEcho() {}

  public static void main(String[] arguments) throws Exception {
    int rank = Integer.parseInt(arguments[0]);
    int peer = Integer.parseInt(arguments[1]);
    int planes = Integer.parseInt(arguments[2]);
    boolean loopback = Boolean.parseBoolean(arguments[3]);
    int bytes = Integer.parseInt(arguments[4]);
    int port = loopback ? UNPRIVILEGED_PORT : PORT;
    byte[] sent = new byte[bytes];
    Arrays.fill(sent, (byte) 0x5a);
    for (int plane = 0; plane < planes; plane++) {
      try (DatagramSocket socket =
          new DatagramSocket(new InetSocketAddress(address(rank, plane, loopback), port))) {
        DatagramPacket packet = new DatagramPacket(new byte[bytes + 1], bytes + 1);
        InetSocketAddress there = new InetSocketAddress(address(peer, plane, loopback), port);
        if (rank == 0) {
          for (int attempt = 0; attempt < 50; attempt++) {
            socket.send(new DatagramPacket(sent, bytes, there));
            socket.setSoTimeout(200);
            try {
              socket.receive(packet);
              break;
            } catch (java.net.SocketTimeoutException peerNotUpYet) {
              continue;
            }
          }
          System.out.println(
              "plane " + plane + " " + packet.getLength() + " from " + packet.getSocketAddress());
        } else {
          socket.setSoTimeout(TIMEOUT_MS);
          socket.receive(packet);
          socket.send(
              new DatagramPacket(packet.getData(), packet.getLength(), packet.getSocketAddress()));
        }
      }
    }
  }

  private static InetAddress address(int rank, int plane, boolean loopback) {
    return InetAddress.ofLiteral(
        loopback ? LabPlan.loopbackAddress(rank, plane) : LabPlan.address(rank, plane));
  }
}
