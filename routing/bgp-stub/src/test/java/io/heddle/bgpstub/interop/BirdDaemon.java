package io.heddle.bgpstub.interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** BIRD daemon in the leaf's network namespace. */
final class BirdDaemon {
  private static final Path BIRD = Path.of("/usr/sbin/bird");
  private static final Path CLIENT = Path.of("/usr/sbin/birdc");

  private BirdDaemon() {}

  static List<Path> programs() {
    return List.of(BIRD, CLIENT);
  }

  private static String control(HostAndLeaf net) {
    return net.folder().resolve("ctl").toString();
  }

  static Process start(HostAndLeaf net, String configuration) throws IOException {
    Path file = net.folder().resolve("bird.conf");
    Files.writeString(file, configuration);
    Files.deleteIfExists(net.folder().resolve("ctl"));
    return net.start(
        BIRD.toString(),
        "-f",
        "-c",
        file.toString(),
        "-s",
        control(net),
        "-P",
        net.folder().resolve("bird.pid").toString());
  }

  /** Returns BIRD's answer to an operator's command. */
  static String ask(HostAndLeaf net, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(CLIENT.toString(), "-s", control(net)));
    command.addAll(List.of(words));
    return net.ask(command.toArray(String[]::new));
  }
}
