package io.heddle.tools.doctor;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers other hosts' probes on each plane of this one. An answer is as long as what it answers,
 * and goes to nobody who hasn't sent a whole packet of ours, so that it amplifies nothing.
 */
final class Answerer {
  private final String planes;
  private final List<Plane> answering = new ArrayList<>();

  Answerer(List<Plane> all) {
    for (Plane plane : all) {
      if (plane.address().address() instanceof Inet6Address) {
        answering.add(plane);
      }
    }
    planes =
        String.join(
            ",",
            answering.stream()
                .map(plane -> plane.key() + "=" + AddressText.of(plane.address().address()))
                .toList());
  }

  /**
   * Never returns while a plane is left to answer on.
   *
   * @throws HeddleException when there is none
   */
  void run(PrintWriter out) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (Plane plane : answering) {
      Inet6Address address = (Inet6Address) plane.address().address();
      try {
        ProbeSocket socket = new ProbeSocket(address);
        out.printf(
            "answering on %s, port %s (%s)%n",
            AddressText.of(address), ProbePacket.PORT, plane.key());
        threads.add(Thread.ofPlatform().daemon().start(() -> answer(socket)));
      } catch (IOException inUse) {
        out.printf(
            "not answering on %s, port %s: %s (a job's soft device, or the kernel's rxe?)%n",
            AddressText.of(address), ProbePacket.PORT, inUse.getMessage());
      }
    }
    out.flush();
    if (threads.isEmpty()) {
      throw new HeddleException("there is no plane to answer on; heddle doctor tells why");
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void answer(ProbeSocket socket) {
    try (socket) {
      while (true) {
        ProbeSocket.Received asked = socket.receive();
        ProbePacket packet = asked.packet();
        if (packet.kind() == ProbePacket.ASK) {
          send(socket, packet, asked);
        }
      }
    } catch (IOException ended) {
      System.err.println("heddle: a plane is answered no more: " + ended.getMessage());
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
