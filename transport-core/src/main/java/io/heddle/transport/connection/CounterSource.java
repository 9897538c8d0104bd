package io.heddle.transport.connection;

import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import java.lang.foreign.Arena;
import java.util.List;

/** Source of a communicator's counters, one per plane. */
public interface CounterSource {
  PlaneCounters[] open(Connection connection, StatsFile.Direction direction);

  void close(PlaneCounters[] counters);

  /** Returns a source of counters that are records in this statistics file. */
  static CounterSource of(StatsFile file) {
    return new CounterSource() {
      @Override
      public PlaneCounters[] open(Connection connection, StatsFile.Direction direction) {
        List<String> keys = connection.planeKeys();
        PlaneCounters[] counters = new PlaneCounters[keys.size()];
        PlaneWeights weights = connection.planeWeights().current();
        for (int i = 0; i < counters.length; i++) {
          counters[i] = file.open(direction, keys.get(i), weights.weight(i), connection.peer());
          counters[i].setAddresses(
              connection.localGids().get(i).toBytes(), connection.remoteGids().get(i).toBytes());
        }
        connection
            .planeWeights()
            .setCounters(counters.clone(), direction == StatsFile.Direction.SEND);
        if (connection.spansAllPlanes()) {
          counters[0] = counters[0].withoutLinks();
        }
        return counters;
      }

      @Override
      public void close(PlaneCounters[] counters) {
        for (PlaneCounters counter : counters) {
          file.close(counter);
        }
      }
    };
  }

  /** Returns a source of unpublished counters, which are freed with the arena. */
  static CounterSource unpublished(Arena arena) {
    return new CounterSource() {
      @Override
      public PlaneCounters[] open(Connection connection, StatsFile.Direction direction) {
        PlaneCounters[] counters = new PlaneCounters[connection.planeKeys().size()];
        for (int i = 0; i < counters.length; i++) {
          counters[i] = PlaneCounters.unpublished(arena);
        }
        return counters;
      }

      @Override
      public void close(PlaneCounters[] counters) {
        // The arena's owner frees the counters.
      }
    };
  }
}
