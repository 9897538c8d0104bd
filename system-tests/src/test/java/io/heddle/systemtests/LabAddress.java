package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.cli.lab.Lab;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Addresses that a test gives a host of a lab besides the lab's own. */
final class LabAddress {
  private static final long LIMIT_SECONDS = 60;

  private LabAddress() {}

  /**
   * Gives an interface another address, which can be used at once.
   *
   * @param address with its prefix
   * @param folder where what ip says goes
   */
  static void add(Lab lab, int rank, String link, String address, Path folder) throws Exception {
    List<String> command = new ArrayList<>(List.of("ip", "addr", "add", address, "dev", link));
    if (address.contains(":")) {
      command.add("nodad");
    }
    Path log = folder.resolve("address.log");
    try (HostProcess ip = HostProcess.start(lab, rank, log, Map.of(), command)) {
      assertEquals(0, ip.exitCode(LIMIT_SECONDS), ip::outputOrWhyNot);
    }
  }
}
