package io.heddle.cli.stat;

import io.heddle.stats.DistinctErrors;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsFile.Direction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Statistics files of a simulated job, written by this process as the plugin writes them. The job
 * has two planes to one peer.
 */
final class JobStats implements AutoCloseable {
  static final String PEER = "fd00:0:2:a::2 pid 4711";

  private final StatsFile file;
  final List<PlaneCounters> sending = new ArrayList<>();
  final List<PlaneCounters> receiving = new ArrayList<>();

  JobStats(Path folder) {
    file = new StatsFile(folder, (level, sentence) -> {});
    for (String plane : List.of("colour:1", "colour:2")) {
      sending.add(file.open(Direction.SEND, plane, 3, PEER));
      receiving.add(file.open(Direction.RECEIVE, plane, 1, PEER));
    }
    sending.getFirst().setWeight(3, "path bandwidth");
    sending.getLast().setWeight(1, "path bandwidth");
    for (int i = 0; i < 1000; i++) {
      send(0, 60_000, 20_000);
    }
    send(1, 60_000, 3_000_000);
    sending.getFirst().chunk(5_000);
    sending.getLast().resent(7);
    receiving.getFirst().chunk(100);
    receiving.getFirst().reordered(0);
    receiving.getFirst().reordered(9);
    file.setDeviceCounter("soft0/packets_resent", 7);
    file.setDeviceCounter("soft0/dropped_bad_checksum", 2);
    DistinctErrors errors = new DistinctErrors((level, sentence) -> {});
    errors.publishTo(file);
    errors.warn("plane colour:2 lost its carrier 3 times");
    errors.warn("plane colour:2 lost its carrier 4 times");
  }

  void send(int plane, int bytes, long tookNs) {
    sending.get(plane).chunk(bytes);
    sending.get(plane).acknowledged(bytes, tookNs);
  }

  /**
   * Counts three puts, two of them with a signal. Over the second plane, counts a get and its
   * flush.
   */
  void writeAndReadOneSided() {
    for (int i = 0; i < 3; i++) {
      sending.getFirst().put();
    }
    sending.getFirst().signal();
    sending.getFirst().signal();
    sending.getFirst().get();
    sending.getLast().getArrived(9_000);
    sending.getFirst().flush();
  }

  @Override
  public void close() {
    file.close();
  }
}
