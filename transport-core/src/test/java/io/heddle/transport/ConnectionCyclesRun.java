package io.heddle.transport;

import io.heddle.platform.testing.LiveHeap;
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
 * Program that opens connections, sends one message over each and closes them, and prints what the
 * process holds after each of some stretches: {@code FOLDER STRETCHES CYCLES CONNECTIONS}, so many
 * stretches of so many cycles, with so many connections open at a time.
 */
final class ConnectionCyclesRun {
  private static final int MESSAGE_BYTES = 1000;

  /** One line of output. */
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

  private ConnectionCyclesRun() {}

  public static void main(String[] arguments) throws IOException {
    int stretches = Integer.parseInt(arguments[1]);
    int cycles = Integer.parseInt(arguments[2]);
    int connections = Integer.parseInt(arguments[3]);
    Path folder = Path.of(arguments[0]);
    try (Ends ends = new Ends(null, folder, List.of(1, 2), List.of(1, 2), Map.of())) {
      Round round = new Round(ends, connections);
      for (int stretch = 0; stretch < stretches; stretch++) {
        for (int cycle = 0; cycle < cycles; cycle++) {
          round.run(cycle);
        }
        awaitClosed(ends);
        System.out.println(Held.now().line());
      }
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

  /** Some connections, opened one after the other, used and closed. */
  private static final class Round {
    private final Ends ends;
    private final int connections;
    private final long handle;
    private final long from;
    private final long to;

    Round(Ends ends, int connections) {
      this.ends = ends;
      this.connections = connections;
      handle = ends.handle();
      from = ends.memory(MESSAGE_BYTES);
      to = ends.memory(MESSAGE_BYTES);
    }

    void run(int seed) {
      List<Ends.Link> open = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        open.add(ends.connect(ends.right.listen(0, handle), handle));
      }
      Ends.fill(from, MESSAGE_BYTES, seed);
      for (Ends.Link link : open) {
        message(link);
      }
      Ends.check(to, MESSAGE_BYTES, seed);
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
  }
}
