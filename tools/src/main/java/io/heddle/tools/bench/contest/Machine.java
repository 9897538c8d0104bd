package io.heddle.tools.bench.contest;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Description of the machine that ran a measurement.
 *
 * @param processor model name of the processor
 * @param processors number of processors available to the measurement
 * @param memoryGibibytes size of the memory, GiB
 * @param kernel release of the kernel
 * @param java name and version of the JVM
 */
public record Machine(
    String processor, int processors, double memoryGibibytes, String kernel, String java) {
  private static final double KIB_PER_GIB = 1 << 20;

  public static Machine here() {
    return new Machine(
        field("/proc/cpuinfo", "model name"),
        Runtime.getRuntime().availableProcessors(),
        Math.round(
                Double.parseDouble(field("/proc/meminfo", "MemTotal").split(" ")[0])
                    / KIB_PER_GIB
                    * 10)
            / 10.0,
        lines("/proc/sys/kernel/osrelease").findFirst().orElse("unknown"),
        System.getProperty("java.vm.name") + " " + Runtime.version());
  }

  private static String field(String file, String name) {
    return lines(file)
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse(name.equals("MemTotal") ? "0 kB" : "unknown");
  }

  private static Stream<String> lines(String file) {
    try {
      return Files.readAllLines(Path.of(file)).stream();
    } catch (IOException unreadable) {
      throw new HeddleException("can't read " + file + ": " + unreadable.getMessage(), unreadable);
    }
  }

  /** Returns the load average of the last minute. */
  public static double loadOfLastMinute() {
    return Double.parseDouble(lines("/proc/loadavg").findFirst().orElse("0").split(" ")[0]);
  }

  public String text() {
    return String.format(
        Locale.ROOT,
        "%s, %d processors, %.1f GiB, Linux %s, %s",
        processor,
        processors,
        memoryGibibytes,
        kernel,
        java);
  }
}
