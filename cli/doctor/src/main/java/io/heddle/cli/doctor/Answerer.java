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
 * Answers other hosts' probes on each plane of this one. An answer is as long as what it answers,
 * and goes to nobody who hasn't sent a whole packet of ours, so that it amplifies nothing.
 */
final class Answerer {
  /* The first and the last that ranks of a host receive at: a firewall may let in the first alone. */
  private static final List<Integer> PORTS =
      List.of(RocePorts.STANDARD.first(), RocePorts.STANDARD.last());

  private final String planes;
  private final List<Plane> answering;

  Answerer(List<Plane> all) {
    answering = List.copyOf(all);
    planes = OfferedPlanes.text(answering);
  }

  /**
   * Never returns while a plane is left to answer on.
   *
   * @throws HeddleException when there is none
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
      throw new HeddleException("there is no plane to answer on; heddle doctor tells why");
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
              "answerer on " + AddressText.of(address),
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
      ProbeSocket.Received asked = socket.receive();
      ProbePacket packet = asked.packet();
      if (packet.kind() == ProbePacket.ASK) {
        send(socket, packet, asked);
      }
      return true;
    } catch (IOException ended) {
      System.err.println("heddle: a plane is answered no more: " + ended.getMessage());
      close(socket);
      return false;
    }
  }

  private static void close(ProbeSocket socket) {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      /* It is closed either way. */
    }
  }

  private void send(ProbeSocket socket, ProbePacket packet, ProbeSocket.Received asked) {
    try {
      socket.send(
          new ProbePacket(ProbePacket.ANSWER, packet.number(), planes, packet.lengthBytes()),
          asked.from());
    } catch (IOException unreachable) {
      /* The way back doesn't carry it; the asker sees that no answer comes. */
    }
  }
}
