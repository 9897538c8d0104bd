package io.heddle.transport.data;

import java.util.List;
import java.util.stream.IntStream;

/**
 * What a queue pair is made on, and fails as one: a plane, or, for the policy packet, all planes of
 * a connection together.
 *
 * @param name what both ends call it
 * @param planes which of the connection's planes it has
 */
public record Carrier(String name, List<Integer> planes) {
  public Carrier {
    planes = List.copyOf(planes);
  }

  /** Each plane by itself. */
  public static List<Carrier> ofEach(List<String> names) {
    return IntStream.range(0, names.size())
        .mapToObj(plane -> new Carrier(names.get(plane), List.of(plane)))
        .toList();
  }

  /** All planes together. */
  public static List<Carrier> ofAll(List<String> names) {
    return List.of(new Carrier("packet", IntStream.range(0, names.size()).boxed().toList()));
  }

  public boolean isOnePlane() {
    return planes.size() == 1;
  }

  public int first() {
    return planes.getFirst();
  }
}
