package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.LiveHeap;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.SendComm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Program that runs several series of cycles of one kind, and prints the process's resources after
 * each series. Arguments: {@code FOLDER KIND SERIES CYCLES CONNECTIONS}. SERIES is the number of
 * series, CYCLES the number of cycles in each, and CONNECTIONS the number of connections per cycle.
 */
final class ConnectionCyclesRun {
  private static final int MESSAGE_BYTES = 1000;

  /** Kind of cycle. */
  enum Kind {
    /** Opens connections one after the other, sends a message over each, and closes them. */
    CONNECTIONS,

    /** Does the same as {@link #CONNECTIONS}, over queue pairs that span all planes. */
    SPANS_ALL_PLANES,

    /** Opens and closes listeners without a caller. */
    LISTENERS,

    /** Connects to a closed listener. */
    DEAD_LISTENERS,

    /** Closes a listener while a caller connects, and closes the caller's end. */
    UNACCEPTED,

    /** Lets a plane fail under each connection before closing it. */
    FALLEN_PLANES,

    /** Opens and closes transports with a connection each. */
    TRANSPORTS
  }

  /** Resources that the process holds, printed as a line. */
  record Held(long heapBytes, long residentBytes, long descriptors, long threads) {
    static Held now() throws IOException {
      long heap = LiveHeap.bytes();
      String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[1];
      return new Held(
          heap, Long.parseLong(pages) * 4096, count("/proc/self/fd"), count("/proc/self/task"));
    }

    private static long count(String folder) throws IOException {
      try (Stream<Path> entries = Files.list(Path.of(folder))) {
        return entries.count();
      }
    }

    static Held parse(String line) {
      String[] words = line.split(" ");
      return new Held(
          Long.parseLong(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Long.parseLong(words[4]));
    }

    String line() {
      return String.format(
          Locale.ROOT, "held %d %d %d %d", heapBytes, residentBytes, descriptors, threads);
    }
  }

  private final Path folder;
  private final Kind kind;
  private final int connections;

  private ConnectionCyclesRun(Path folder, Kind kind, int connections) {
    this.folder = folder;
    this.kind = kind;
    this.connections = connections;
  }

  public static void main(String[] arguments) throws IOException {
    ConnectionCyclesRun run =
        new ConnectionCyclesRun(
            Path.of(arguments[0]), Kind.valueOf(arguments[1]), Integer.parseInt(arguments[4]));
    int seriesCount = Integer.parseInt(arguments[2]);
    int cycles = Integer.parseInt(arguments[3]);
    if (run.kind == Kind.TRANSPORTS) {
      run.runTransports(seriesCount, cycles);
    } else {
      run.runOnOne(seriesCount, cycles);
    }
  }

  private Ends open() {
    Map<String, String> more =
        kind == Kind.SPANS_ALL_PLANES ? Map.of("HEDDLE_POLICY", "packet") : Map.of();
    return new Ends(null, folder, List.of(1, 2), List.of(1, 2), more);
  }

  private void runTransports(int seriesCount, int cycles) throws IOException {
    for (int series = 0; series < seriesCount; series++) {
      for (int cycle = 0; cycle < cycles; cycle++) {
        try (Ends ends = open()) {
          new Round(ends).connections(cycle);
        }
      }
      System.out.println(Held.now().line());
    }
  }

  private void runOnOne(int seriesCount, int cycles) throws IOException {
    try (Ends ends = open()) {
      Round round = new Round(ends);
      for (int series = 0; series < seriesCount; series++) {
        for (int cycle = 0; cycle < cycles; cycle++) {
          round.run(cycle);
        }
        ends.log.clear();
        awaitClosed(ends);
        System.out.println(Held.now().line());
      }
      System.out.println("refused " + round.refusals);
    }
  }

  private static void awaitClosed(Ends ends) {
    Ends.await(
        "end of all connections",
        () -> {
          LockSupport.parkNanos(1_000_000);
          return Stream.of(ends.left, ends.right)
              .flatMap(end -> end.devices().stream())
              .allMatch(device -> device.connections().isEmpty());
        });
  }

  /** One cycle, with its own memory. */
  private final class Round {
    private final Ends ends;
    private final long handle;
    private final long from;
    private final long to;
    private int refusals;

    Round(Ends ends) {
      this.ends = ends;
      handle = ends.handle();
      from = ends.memory(MESSAGE_BYTES);
      to = ends.memory(MESSAGE_BYTES);
    }

    void run(int seed) {
      switch (kind) {
        case CONNECTIONS, SPANS_ALL_PLANES, FALLEN_PLANES, TRANSPORTS -> connections(seed);
        case LISTENERS -> listeners();
        case DEAD_LISTENERS -> {
          ends.right.listen(0, handle).close();
          closeCaller();
        }
        case UNACCEPTED -> closeUnder(seed % 5 * 1_000_000L);
      }
    }

    void connections(int seed) {
      List<Ends.Link> open = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        open.add(ends.connect(ends.right.listen(0, handle), handle));
      }
      Ends.fill(from, MESSAGE_BYTES, seed);
      for (Ends.Link link : open) {
        message(link);
      }
      Ends.check(to, MESSAGE_BYTES, seed);
      if (kind == Kind.FALLEN_PLANES) {
        open.forEach(link -> link.sending().failover().onPlaneFailure(1, 0, "cut by the program"));
      }
      open.forEach(Ends.Link::close);
    }

    private void message(Ends.Link link) {
      long fromHandle = link.sender().registerMemory(from, MESSAGE_BYTES, 1);
      long toHandle = link.receiver().registerMemory(to, MESSAGE_BYTES, 1);
      long receive = ends.receive(link, to, MESSAGE_BYTES, 1, toHandle);
      long send = Ends.send(link, from, MESSAGE_BYTES, 1, fromHandle);
      Ends.finish(link, receive);
      Ends.finish(link, send);
      link.sender().deregisterMemory(fromHandle);
      link.receiver().deregisterMemory(toHandle);
    }

    private void listeners() {
      List<ListenComm> open = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        open.add(ends.right.listen(0, handle));
      }
      open.forEach(ListenComm::close);
    }

    /* The listener may close before or after the connection has been set up. */
    private void closeUnder(long pauseNs) {
      ListenComm listener = ends.right.listen(0, handle);
      ends.left.connect(0, -1, handle);
      LockSupport.parkNanos(pauseNs);
      listener.close();
      closeCaller();
    }

    private void closeCaller() {
      try {
        Ends.await(
            "an end of the call",
            () -> {
              SendComm sender = ends.left.connect(0, -1, handle);
              if (sender != null) {
                sender.close();
              }
              return sender != null;
            });
      } catch (HeddleException refused) {
        refusals++;
      }
    }
  }
}
