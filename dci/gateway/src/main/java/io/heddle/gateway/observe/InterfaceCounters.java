package io.heddle.gateway.observe;

import io.heddle.addr.HostAddresses;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.telemetry.report.InterfaceReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reader of the sent bytes and the state of each interface, by proc_pid_net(5). */
public final class InterfaceCounters {
  /*
   * Counters in the calling thread's network namespace. /proc/net/dev would show those of the main
   * thread's namespace.
   */
  private static final Path DEV = Path.of("/proc/thread-self/net/dev");
  private static final int HEADINGS = 2;
  private static final int SENT_BYTES = 8;

  private InterfaceCounters() {}

  /**
   * Reads the counters of the calling thread's network namespace.
   *
   * @param host interfaces of the namespace, with their state
   * @throws HeddleException if the system's file can't be read
   */
  public static List<InterfaceReport> read(HostAddresses host) {
    Map<String, Boolean> up = new HashMap<>();
    host.links().forEach(each -> up.put(each.name(), each.isUp()));
    try {
      return parse(Files.readAllLines(DEV)).stream()
          .map(each -> new InterfaceReport(each.name(), each.outOctets(), up.get(each.name())))
          .toList();
    } catch (IOException failure) {
      throw new HeddleException(DEV + " can't be read: " + FileFailure.reason(failure), failure);
    }
  }

  static List<InterfaceReport> parse(List<String> lines) {
    List<InterfaceReport> counters = new ArrayList<>();
    for (String line : lines.subList(HEADINGS, lines.size())) {
      int colon = line.lastIndexOf(':');
      String[] numbers = line.substring(colon + 1).strip().split("\\s+");
      counters.add(
          new InterfaceReport(
              line.substring(0, colon).strip(), Long.parseUnsignedLong(numbers[SENT_BYTES])));
    }
    return counters;
  }
}
