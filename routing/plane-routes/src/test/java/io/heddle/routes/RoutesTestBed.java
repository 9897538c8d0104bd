package io.heddle.routes;

import io.heddle.platform.NanoClock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;

/** One publisher and one reader of a file, with prefixes as text. */
final class RoutesTestBed implements AutoCloseable {
  static final int PERIOD_MS = 100;

  final Path path;
  final RoutePublisher publisher;
  private final NanoClock clock;

  RoutesTestBed(Path folder, WeightRules rules, NanoClock clock, String... planeKeys) {
    this.clock = clock;
    path = folder.resolve("routes");
    publisher = RoutePublisher.create(path, "a test", rules, PERIOD_MS, clock);
    for (String key : planeKeys) {
      publisher.setPlane(new PublishedPlane(key, null, 100_000, "test"));
    }
    publisher.goLive();
  }

  static RoutesTestBed of(Path folder, String... planeKeys) {
    return new RoutesTestBed(folder, WeightRules.DEFAULT, NanoClock.SYSTEM, planeKeys);
  }

  /** Returns an address as two longs. */
  static long[] address(String text) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(InetAddress.getByName(text).getAddress());
      return new long[] {bytes.getLong(), bytes.getLong()};
    } catch (UnknownHostException malformed) {
      throw new IllegalArgumentException(text, malformed);
    }
  }

  /** Makes one change of one cell. */
  void set(String prefix, int plane, int cell) {
    String[] parts = prefix.split("/");
    long[] address = address(parts[0]);
    publisher.begin();
    publisher.set(address[0], address[1], Integer.parseInt(parts[1]), plane, cell);
    publisher.commit();
  }

  void route(String prefix, int plane, int gbps) {
    set(prefix, plane, RouteCell.of(WeightReason.PATH_BANDWIDTH, gbps * 1000L));
  }

  RouteReader reader() {
    return Objects.requireNonNull(RouteReader.open(path, clock));
  }

  /** Returns the weights of all planes for a destination, as text: {@code 100,0,50}. */
  String weights(RouteReader reader, String destination) {
    RouteAnswer answer = answer(reader, destination);
    StringBuilder text = new StringBuilder();
    for (int plane = 0; plane < answer.planes(); plane++) {
      text.append(plane == 0 ? "" : ",").append(answer.weight(plane) / 100_000.0);
    }
    return text.toString().replace(".0", "");
  }

  static RouteAnswer answer(RouteReader reader, String destination) {
    long[] address = address(destination);
    RouteAnswer answer = new RouteAnswer();
    if (!reader.resolve(address[0], address[1], answer)) {
      throw new AssertionError("no whole state could be read");
    }
    return answer;
  }

  @Override
  public void close() {
    publisher.close();
  }
}
