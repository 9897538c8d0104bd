package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.tools.lab.Lab;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Further addresses of a lab's host, besides those that the lab assigns. */
final class LabAddress {
  private static final long LIMIT_SECONDS = 60;

  private LabAddress() {}

  /**
   * Adds an address to an interface. It can be used at once, without duplicate address detection.
   *
   * @param address address with its prefix length
   * @param folder folder for the output of ip
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
