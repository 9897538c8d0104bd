package io.heddle.systemtests;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.KeepaliveMessage;
import io.heddle.bgp.wire.MessageEncoder;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgp.wire.WireOptions;
import io.heddle.bgpstub.daemon.BgpDaemon;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.IdleStopwatch;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import io.heddle.transport.Transport;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Measurement of the delay from an UPDATE with another path bandwidth to the first chunk with the
 * new weights. The delay begins when a peer hands the UPDATE to TCP, and ends when a running sender
 * posts the chunk. It includes the BGP speaker, the routes file, the plugin's reader of the file,
 * and the sender, over real sockets. Both times are by System.nanoTime of this process. The program
 * prints the delays in microseconds, sorted.
 *
 * <p>The program must run in a network namespace of its own, which has the addresses below.
 */
final class RouteUpdateLatency {
  /** Addresses of the two BGP peers, one per plane. */
  static final List<String> PEERS = List.of("fd00:ff::11", "fd00:ff::12");

  /** Addresses of the sender, one per plane. */
  static final List<String> LEFT = List.of("fd00:77::1", "fd00:77::2");

  /** Addresses of the receiver, one per plane. */
  static final List<String> RIGHT = List.of("fd00:78::1", "fd00:78::2");

  private static final int PORT = 1790;
  private static final int MESSAGE_BYTES = 64 << 10;
  private static final long LIMIT_SECONDS = 30;
  private static final Prefix AGGREGATE = Prefix.of("fd00:78::/32");

  private final Path folder;
  private final Arena arena = Arena.ofShared();
  private final Socket[] peers = new Socket[2];
  private final MessageEncoder encoder = new MessageEncoder(WireOptions.DEFAULT);
  private SendComm sender;
  private RecvComm receiver;
  private Path stats;
  private long from;
  private long to;
  private long fromHandle;
  private long toHandle;
  private long arrays;

  private RouteUpdateLatency(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    new RouteUpdateLatency(Path.of(arguments[0])).run(Integer.parseInt(arguments[1]));
  }

  private void run(int rounds) throws Exception {
    Log log = Log.toStandardError();
    ServerSocket[] servers = new ServerSocket[2];
    for (int i = 0; i < 2; i++) {
      servers[i] = new ServerSocket(PORT, 1, InetAddress.getByName(PEERS.get(i)));
    }
    Path config = folder.resolve("bgp.conf");
    Files.writeString(
        config,
        "as = 65001\nrouter-id = 10.0.0.5\nlisten-port = 0\nannounce = no\npublish = "
            + folder.resolve("routes")
            + "\n"
            + peer(1)
            + peer(2));
    BgpDaemon daemon = BgpDaemon.start(ConfigParser.read(config), Set::of, log);
    for (int i = 0; i < 2; i++) {
      peers[i] = servers[i].accept();
      peers[i].setTcpNoDelay(true);
      establish(i);
      announce(i, AGGREGATE, 100);
      send(i, UpdateMessage.END_OF_RIB);
    }
    Transport left = open("left", LEFT, log);
    Transport right = open("right", RIGHT, log);
    connect(left, right);
    stats = left.statsFile();
    long[] delays = new long[rounds];
    for (int round = -3; round < rounds; round++) {
      long delay = measure();
      if (round >= 0) {
        delays[round] = delay / 1000;
      }
    }
    Arrays.sort(delays);
    System.out.println("delays " + Arrays.toString(delays));
    sender.close();
    receiver.close();
    left.close();
    right.close();
    daemon.close();
    System.exit(0);
  }

  private static String peer(int number) {
    return String.format(
        Locale.ROOT,
        "[peer p%1$d]\naddress = %2$s\nport = %3$d\nas = 65002\nplane = %1$d\n",
        number,
        PEERS.get(number - 1),
        PORT);
  }

  private Transport open(String name, List<String> addresses, Log log) {
    return Transport.open(
        Map.of(
            "HEDDLE_PLANES",
            addresses.get(0) + "=1," + addresses.get(1) + "=2",
            "HEDDLE_PROVIDER",
            "soft",
            "HEDDLE_ROUTES",
            folder.resolve("routes").toString(),
            "HEDDLE_STATS_DIR",
            folder.resolve(name).toString(),
            "NCCL_SOCKET_IFNAME",
            "lo"),
        log);
  }

  private void establish(int peer) throws IOException {
    send(
        peer,
        new OpenMessage(
            65002,
            90,
            0x0a000001 + peer,
            List.of(
                new Capability.Multiprotocol(AddressFamily.IPV6_UNICAST),
                new Capability.FourOctetAs(65002)),
            false));
    send(peer, KeepaliveMessage.INSTANCE);
    /*
     * Reads and ignores the speaker's messages. The session needs nothing more than the OPEN and
     * the KEEPALIVE that were sent already.
     */
    Thread.ofVirtual()
        .start(() -> {
          try {
            peers[peer].getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
          } catch (IOException ended) {
            /* The connection ends with the program. */
          }
        });
  }

  private void send(int peer, BgpMessage message) throws IOException {
    peers[peer].getOutputStream().write(encoder.encode(message));
  }

  private void announce(int peer, Prefix prefix, int gbps) throws IOException {
    send(
        peer,
        UpdateMessage.announce(
            Nlri.of(prefix),
            PathAttributes.of(
                PathAttribute.Origin.IGP,
                new PathAttribute.Path(AsPath.of(65002)),
                new PathAttribute.ExtendedCommunities(
                    List.of(new ExtendedCommunity.PathBandwidth(true, 0x0a000001, gbps)))),
            NextHop.of(Prefix.of(PEERS.get(peer)).address())));
  }

  private void connect(Transport left, Transport right) {
    long handle = Memory.allocate(arena, ConnectionHandle.BYTES, 8);
    ListenComm listener = right.listen(0, handle);
    SendComm sending = null;
    RecvComm receiving = null;
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (sending == null || receiving == null) {
      sending = sending == null ? left.connect(0, -1, handle) : sending;
      receiving = receiving == null ? right.accept(listener) : receiving;
      require(deadline, "a connection");
    }
    sender = sending;
    receiver = receiving;
    from = Memory.allocate(arena, MESSAGE_BYTES, 4096);
    to = Memory.allocate(arena, MESSAGE_BYTES, 4096);
    fromHandle = sender.registerMemory(from, MESSAGE_BYTES, 1);
    toHandle = receiver.registerMemory(to, MESSAGE_BYTES, 1);
    arrays = Memory.allocate(arena, 256, 64);
    Memory.ALL.set(Memory.NATIVE_LONG, arrays, to);
    Memory.ALL.set(Memory.NATIVE_LONG, arrays + 64, (long) MESSAGE_BYTES);
    Memory.ALL.set(ValueLayout.JAVA_INT, arrays + 128, 1);
    Memory.ALL.set(Memory.NATIVE_LONG, arrays + 192, toHandle);
  }

  private static void require(Deadline deadline, String what) {
    if (deadline.isOver()) {
      throw new IllegalStateException("no " + what + " within the limit");
    }
  }

  /*
   * Measures one delay: withdraws plane 2, restores it by an UPDATE, and waits until the plane
   * carries chunks.
   */
  private long measure() throws Exception {
    Prefix host = Prefix.of(RIGHT.get(1));
    announce(1, host, 0);
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (row().weight() != 0) {
      message(-1);
      require(deadline, "loss of plane 2");
    }
    /*
     * Sends messages for a random time. So all chunks of messages that were split by the old
     * weights are sent, and the UPDATE comes at a random time.
     */
    long pauseNs = ThreadLocalRandom.current().nextLong(5_000_000, 30_000_000);
    for (long end = System.nanoTime() + pauseNs; System.nanoTime() - end < 0; ) {
      message(-1);
    }
    long before = row().bytes();
    long[] sentNs = new long[1];
    IdleStopwatch[] watch = new IdleStopwatch[1];
    Thread peer =
        Thread.ofPlatform()
            .start(() -> {
              try {
                TimeUnit.MILLISECONDS.sleep(3);
                watch[0] = IdleStopwatch.start();
                sentNs[0] = System.nanoTime();
                announce(1, host, 100);
              } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
              }
            });
    long seenNs = 0;
    while (seenNs == 0) {
      seenNs = message(before);
      require(deadline, "chunk on plane 2");
    }
    peer.join();
    /* Returns the delay, without the time in which tasks of this host waited for a processor. */
    return Math.min(seenNs - sentNs[0], watch[0].ns());
  }

  /*
   * Sends a message to the other end. Returns the time at which plane 2 has carried more bytes than
   * the argument; 0 if it hasn't.
   */
  private long message(long before) {
    long receive = 0;
    while (receive == 0) {
      receive = receiver.irecv(1, arrays, arrays + 64, arrays + 128, arrays + 192);
    }
    long send = 0;
    while (send == 0) {
      send = sender.isend(from, MESSAGE_BYTES, 1, fromHandle);
      driveBothEnds();
    }
    long seenNs = before >= 0 && row().bytes() > before ? System.nanoTime() : 0;
    finish(send);
    finish(receive);
    return seenNs;
  }

  private void driveBothEnds() {
    if (receiver.progress() != 0 || sender.progress() != 0) {
      throw new IllegalStateException("the connection has failed");
    }
  }

  private void finish(long request) {
    while (Memory.getIntAcquire(request) != 1) {
      if (Memory.getIntAcquire(request) < 0) {
        throw new IllegalStateException("a request has failed");
      }
      driveBothEnds();
    }
    Memory.setIntRelease(request, 2);
  }

  private ProcessStats.Row row() {
    for (ProcessStats.Row row : StatsReader.read(stats)) {
      if (row.direction() == StatsFile.Direction.SEND
          && row.planeKey().equals("plane:2")
          && !row.peer().startsWith("closed")) {
        return row;
      }
    }
    throw new IllegalStateException("no row of plane 2 in " + stats);
  }
}
