package io.heddle.transport.data;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Planes over which one queue pair sends, the unit of failure: a single plane, or, with the spray
 * policy {@code packet}, all planes of a connection together.
 *
 * @param name name of the carrier, the same at both ends
 * @param planes indexes of the carrier's planes among the connection's planes
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

  /** Returns a single carrier with all planes. */
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
