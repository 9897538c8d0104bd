package io.heddle.transport;

import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Program that closes the senders of more connections than may linger, and prints how many linger
 * after a while: {@code FOLDER CONNECTIONS}. The receivers stay open and must be unchanged.
 */
final class LingeringRun {
  private LingeringRun() {}

  public static void main(String[] arguments) {
    int connections = Integer.parseInt(arguments[1]);
    Path folder = Path.of(arguments[0]);
    LoopbackFabric fabric = new LoopbackFabric(1);
    try (Ends ends = new Ends(fabric, folder, List.of(1), List.of(1), Map.of())) {
      List<Ends.Link> links = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        links.add(ends.connect());
        links.getLast().listener().close();
      }
      links.forEach(link -> link.sender().close());
      Ends.await(
          "goodbyes",
          () -> links.stream().noneMatch(link -> link.receiving().health().isPeerAlive()));
      System.out.println("lingering " + ends.left.devices().getFirst().lingering());
      links.forEach(link -> link.receiver().close());
      Ends.await(
          "the last end of a connection",
          () -> ends.left.devices().getFirst().connections().isEmpty());
      System.out.println(
          "log " + ends.log.stream().filter(line -> !line.startsWith("INFO")).toList());
    }
  }
}
