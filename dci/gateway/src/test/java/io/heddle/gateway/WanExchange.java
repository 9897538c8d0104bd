package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.gateway.WanCapture.Sighting;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.platform.testing.Deadline;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;

/** Sender of packets in the near data centre, with a capture of the packets behind the WAN. */
final class WanExchange implements AutoCloseable {
  private final WanCapture capture;
  private final WanSender sender;

  WanExchange(WanTopology wan) {
    capture = new WanCapture(wan.gw2);
    sender = new WanSender(wan.h1, WanTopology.SOURCE, 1);
  }

  /** Returns the number of the next packet. */
  long next() {
    return sender.next();
  }

  /** Waits for {@code count} packets with this or a higher number, and returns them. */
  List<Sighting> await(long fromNumber, int count) throws InterruptedException {
    return capture.await(fromNumber, count);
  }

  void sendUntilArrival(String destination, int queuePair) throws Exception {
    Deadline deadline = Deadline.ofSeconds(30);
    while (true) {
      long number = sender.next();
      sender.send(destination, FlowHash.ROCE_PORT, queuePair);
      Deadline one = Deadline.ofSeconds(1);
      while (!one.isOver()) {
        if (!capture.seen(number).isEmpty()) {
          return;
        }
        Thread.sleep(1);
      }
      assertFalse(deadline.isOver(), "queue pair " + queuePair + " of " + destination);
    }
  }

  /*
   * Sends packets to each of {@code count} queue pairs in turn, and returns the captured packets.
   */
  List<Sighting> send(String destination, int port, int from, int count, int times)
      throws Exception {
    long first = sender.next();
    int outstanding = 0;
    for (int i = 0; i < times; i++) {
      for (int queuePair = from; queuePair < from + count; queuePair++) {
        sender.send(destination, port, queuePair);
        if (++outstanding % 64 == 0) {
          capture.await(first, outstanding);
        }
      }
    }
    return capture.await(first, outstanding);
  }

  /* Sends until one packet reaches the far host: neighbour discovery may drop the first ones. */
  Sighting sendAcross(WanSender from, DatagramSocket far, int queuePair) throws Exception {
    Deadline deadline = Deadline.ofSeconds(30);
    DatagramPacket got = new DatagramPacket(new byte[2_048], 2_048);
    while (true) {
      long number = from.next();
      from.send(WanTopology.DESTINATION_IPV4, FlowHash.ROCE_PORT, queuePair);
      try {
        far.receive(got);
        assertEquals(queuePair, ByteBuffer.wrap(got.getData()).getInt(4));
        assertEquals(number, ByteBuffer.wrap(got.getData()).getLong(12));
        return sighting(number);
      } catch (SocketTimeoutException again) {
        assertFalse(deadline.isOver(), "queue pair " + queuePair);
      }
    }
  }

  /* Waits for the capture of a packet that has already arrived: the capture may lag behind. */
  Sighting sighting(long number) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    while (capture.seen(number).isEmpty()) {
      assertFalse(deadline.isOver(), "packet " + number + " wasn't captured");
      Thread.sleep(1);
    }
    return capture.seen(number).getFirst();
  }

  int sendWhile(int from, long first, int before, Runnable inTheMiddle) throws Exception {
    int sent = 0;
    for (int i = 0; i < 20; i++) {
      if (i == 10) {
        inTheMiddle.run();
      }
      for (int queuePair = from; queuePair < from + 32; queuePair++) {
        sender.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, queuePair);
        sent++;
      }
      capture.await(first, before + sent);
    }
    return sent;
  }

  @Override
  public void close() throws Exception {
    sender.close();
    capture.close();
  }
}
