package io.heddle.cli.doctor;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.addr.RocePorts;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Responder to other hosts' probes, on each plane of this host. It answers only intact probe
 * packets. An answer has the probe's length, so the responder can't amplify traffic.
 */
final class ProbeResponder {
  /*
   * First and last of the ports at which ranks of one host receive. A firewall may pass only the
   * first.
   */
  private static final List<Integer> PORTS =
      List.of(RocePorts.STANDARD.first(), RocePorts.STANDARD.last());

  private final String planes;
  private final List<Plane> answering;

  ProbeResponder(List<Plane> all) {
    answering = List.copyOf(all);
    planes = OfferedPlanes.text(answering);
  }

  /**
   * Answers probes. Returns when the sockets of all planes have failed.
   *
   * @throws HeddleException if no plane can answer
   */
  void run(PrintWriter out) throws InterruptedException {
    List<ResilientThread> threads = new ArrayList<>();
    for (Plane plane : answering) {
      for (int port : PORTS) {
        start(plane, port, threads, out);
      }
    }
    out.flush();
    if (threads.isEmpty()) {
      throw new HeddleException("there is no plane to answer on; heddle doctor shows the reason");
    }
    for (ResilientThread thread : threads) {
      thread.join(0);
    }
  }

  private void start(Plane plane, int port, List<ResilientThread> threads, PrintWriter out) {
    InetAddress address = plane.address().address();
    try {
      ProbeSocket socket = new ProbeSocket(address, port);
      out.printf("answering on %s, port %s (%s)%n", AddressText.of(address), port, plane.key());
      ResilientThread thread =
          new ResilientThread(
              "probe responder on " + AddressText.of(address),
              Log.toStandardError(),
              () -> answer(socket));
      thread.start();
      threads.add(thread);
    } catch (IOException inUse) {
      out.printf(
          "not answering on %s, port %s: %s (a job's soft device, or the kernel's rxe?)%n",
          AddressText.of(address), port, inUse.getMessage());
    }
  }

  private boolean answer(ProbeSocket socket) {
    try {
      ProbeSocket.Received received = socket.receive();
      ProbePacket packet = received.packet();
      if (packet.kind() == ProbePacket.REQUEST) {
        send(socket, packet, received);
      }
      return true;
    } catch (IOException ended) {
      System.err.println("heddle: a plane no longer answers probes: " + ended.getMessage());
      close(socket);
      return false;
    }
  }

  private static void close(ProbeSocket socket) {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      /* The socket counts as closed even if close fails. */
    }
  }

  private void send(ProbeSocket socket, ProbePacket packet, ProbeSocket.Received received) {
    try {
      socket.send(
          new ProbePacket(ProbePacket.ANSWER, packet.number(), planes, packet.lengthBytes()),
          received.from());
    } catch (IOException unreachable) {
      /* The reverse path is broken; the probing host sees a missing answer. */
    }
  }
}
