package io.heddle.transport.data;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Carrier of a queue pair, the unit of failure: a plane, or, for the policy packet, all planes of a
 * connection together.
 *
 * @param name both ends' name of it
 * @param planes its planes among the connection's
 */
public record Carrier(String name, List<Integer> planes) {
  public Carrier {
    planes = List.copyOf(planes);
  }

  /** Returns a carrier for each plane. */
  public static List<Carrier> ofEach(List<String> names) {
    return IntStream.range(0, names.size())
        .mapToObj(plane -> new Carrier(names.get(plane), List.of(plane)))
        .toList();
  }

  /** Returns one carrier of all planes. */
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
