package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sender of {@link FloodPacket}s from a host of a lab to other hosts' port 4791, over all planes in
 * turn. Used by one thread.
 */
public final class PacketFlood implements AutoCloseable {
  private static final int PORT = 4791;
  private static final long NAP_NS = 500_000;
  private static final double NS_PER_SECOND = 1e9;
  private static final FloodPacket[] KINDS = FloodPacket.values();

  private final DatagramChannel plain;
  private final DatagramChannel marked;
  private final List<InetSocketAddress> targets = new ArrayList<>();
  private final Map<FloodPacket, ByteBuffer> packets = new EnumMap<>(FloodPacket.class);
  private int turn;

  /**
   * Opens the sockets.
   *
   * @param lab lab whose hosts are network namespaces
   * @throws LabException if the hosts aren't network namespaces, or a socket can't be opened
   */
  public PacketFlood(Lab lab, int fromRank, int... toRanks) {
    String namespace = namespace(lab, fromRank);
    for (int plane = 0; plane < lab.plan().planes(); plane++) {
      for (int rank : toRanks) {
        targets.add(target(rank, plane));
      }
    }
    for (FloodPacket kind : KINDS) {
      packets.put(kind, kind.bytes(lab.plan().mtuBytes()));
    }
    plain = NetworkNamespace.call(namespace, PacketFlood::open);
    marked = NetworkNamespace.call(namespace, PacketFlood::open);
    try {
      marked.setOption(StandardSocketOptions.IP_TOS, FloodPacket.CONGESTION);
    } catch (IOException refused) {
      close();
      throw new LabException("can't mark packets: " + refused.getMessage(), refused);
    }
  }

  private static String namespace(Lab lab, int rank) {
    String namespace = lab.namespace(rank);
    if (namespace == null) {
      throw new LabException("a flood needs hosts that are network namespaces");
    }
    return namespace;
  }

  private static InetSocketAddress target(int rank, int plane) {
    return new InetSocketAddress(InetAddress.ofLiteral(LabPlan.address(rank, plane)), PORT);
  }

  private static DatagramChannel open() throws IOException {
    return DatagramChannel.open(StandardProtocolFamily.INET6);
  }

  /** Host that takes no part in a job. Its sockets receive packets and discard them. */
  public static final class Bystander implements AutoCloseable {
    private final List<DatagramChannel> sockets;

    /**
     * Opens the sockets of a host.
     *
     * @param lab lab whose hosts are network namespaces
     */
    public Bystander(Lab lab, int rank) {
      sockets =
          NetworkNamespace.call(
              namespace(lab, rank),
              () -> {
                List<DatagramChannel> bound = new ArrayList<>();
                for (int plane = 0; plane < lab.plan().planes(); plane++) {
                  bound.add(open().bind(target(rank, plane)));
                }
                return bound;
              });
    }

    @Override
    public void close() throws IOException {
      for (DatagramChannel socket : sockets) {
        socket.close();
      }
    }
  }

  /** Sends {@code count} packets of a kind. */
  public void send(FloodPacket kind, int count) {
    DatagramChannel channel = kind == FloodPacket.MARKED ? marked : plain;
    ByteBuffer packet = Objects.requireNonNull(packets.get(kind));
    try {
      for (int i = 0; i < count; i++) {
        channel.send(packet.rewind(), targets.get(turn++ % targets.size()));
      }
    } catch (IOException failed) {
      throw new LabException("the lab's host can't send: " + failed.getMessage(), failed);
    }
  }

  /**
   * Starts sending packets of all kinds in turn until the run is closed. Until then the flood must
   * not be used otherwise.
   */
  public Run begin(int packetsPerSecond) {
    return new Run(packetsPerSecond);
  }

  /** Period in which a thread sends packets. */
  public final class Run implements AutoCloseable {
    private final int packetsPerSecond;
    private final long startNs = System.nanoTime();
    private final Thread thread;
    private volatile @Nullable RuntimeException failure;
    private volatile boolean over;
    private volatile long sent;

    private Run(int packetsPerSecond) {
      this.packetsPerSecond = packetsPerSecond;
      thread = Thread.ofPlatform().daemon().name("heddle-flood").start(this::flood);
    }

    private void flood() {
      try {
        long own = 0;
        while (!over) {
          long due = (long) ((System.nanoTime() - startNs) / NS_PER_SECOND * packetsPerSecond);
          for (; own < due && !over; own++) {
            send(KINDS[(int) (own % KINDS.length)], 1);
          }
          sent = own;
          LockSupport.parkNanos(NAP_NS);
        }
        sent = own;
      } catch (RuntimeException failed) {
        failure = failed;
      }
    }

    /** Stops sending. */
    @Override
    public void close() {
      over = true;
      try {
        thread.join();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    /**
     * Returns the number of sent packets; valid after {@link #close}.
     *
     * @throws LabException if sending failed
     */
    public long sent() {
      RuntimeException failed = failure;
      if (failed != null) {
        throw new LabException("the flood ended early: " + failed.getMessage(), failed);
      }
      return sent;
    }
  }

  @Override
  public void close() {
    try {
      plain.close();
      marked.close();
    } catch (IOException failed) {
      throw new LabException("can't close a socket: " + failed.getMessage(), failed);
    }
  }
}
