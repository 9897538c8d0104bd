package io.heddle.cli.doctor;

import io.heddle.platform.FileFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Check of the kernel's version and limits. */
final class KernelCheck implements Check {
  private static final Cause OLD =
      new Cause("kernel-old", "the kernel is older than UDP segmentation offload (4.18, 5.0)");
  private static final Cause NO_IPV6 =
      new Cause("ipv6-off", "IPv6 is disabled, so no plane can have an IPv6 address");
  private static final Cause SHARED_MEMORY =
      new Cause("shm-small", "/dev/shm has little space; NCCL and the statistics need some");
  private static final Cause BUFFERS =
      new Cause(
          "socket-buffers-small", "socket buffers are limited to a small size (net.core.rmem_max)");
  private static final Cause NO_UVERBS =
      new Cause("uverbs-missing", "there are RDMA devices, but programs can't open them");
  private static final Cause NEIGHBOURS =
      new Cause(
          "neighbours-full",
          "the kernel's neighbour table was full, so packets to some hosts were rejected");
  private static final Path DISABLED = Path.of("/proc/sys/net/ipv6/conf/all/disable_ipv6");
  private static final Path NEIGHBOUR_COUNTS = Path.of("/proc/net/stat/ndisc_cache");
  private static final Path NEIGHBOUR_LIMIT =
      Path.of("/proc/sys/net/ipv6/neigh/default/gc_thresh3");
  private static final String REFUSED = "table_fulls";
  private static final Path LARGEST_BUFFER = Path.of("/proc/sys/net/core/rmem_max");
  private static final long SMALL_SHARED_MEMORY = 256L << 20;
  private static final int MANY_NEIGHBOURS = 4096;
  private static final long SMALL_BUFFER = 1L << 20;

  @Override
  public String name() {
    return "kernel";
  }

  @Override
  public String summary() {
    return "The kernel's version, IPv6, space in /dev/shm, limits of socket buffers, overflows of"
        + " the neighbour table, and the module that lets programs open RDMA devices.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(OLD, NO_IPV6, SHARED_MEMORY, BUFFERS, NEIGHBOURS, NO_UVERBS);
  }

  @Override
  public List<Finding> run(Host host) {
    List<Finding> findings = new ArrayList<>();
    findings.add(version(System.getProperty("os.version", "")));
    findings.add(
        "1".equals(Host.text(DISABLED)) || !Files.exists(DISABLED)
            ? new Finding.Fault(
                NO_IPV6,
                Files.exists(DISABLED) ? DISABLED + " is 1" : DISABLED + " doesn't exist",
                "sysctl net.ipv6.conf.all.disable_ipv6=0; boot without ipv6.disable=1")
            : new Finding.Ok("IPv6 is enabled"));
    sharedMemory(findings);
    buffers(findings);
    String counts = Host.text(NEIGHBOUR_COUNTS);
    if (counts != null) {
      findings.add(neighbours(counts, Host.text(NEIGHBOUR_LIMIT)));
    }
    List<String> devices = names(Path.of("/sys/class/infiniband"), "*");
    if (!devices.isEmpty() && names(Path.of("/dev/infiniband"), "uverbs*").isEmpty()) {
      findings.add(
          new Finding.Warning(
              NO_UVERBS,
              "/sys/class/infiniband has %s, and /dev/infiniband has no uverbs*"
                  .formatted(String.join(", ", devices)),
              "modprobe ib_uverbs; in a container, pass /dev/infiniband through"));
    }
    return findings;
  }

  /**
   * Returns the finding about overflows of the neighbour table.
   *
   * @param counts text of the kernel's counters: a line of names, then a line of hexadecimal
   *     numbers for each processor
   * @param limit size limit of the table, which all network namespaces share; null if this
   *     namespace doesn't show it
   */
  static Finding neighbours(String counts, @Nullable String limit) {
    List<String> lines = counts.lines().toList();
    int column = Arrays.asList(lines.getFirst().strip().split("\\s+")).indexOf(REFUSED);
    if (column < 0) {
      return new Finding.Unknown(NEIGHBOUR_COUNTS + " doesn't count " + REFUSED);
    }
    long refused = 0;
    for (String line : lines.subList(1, lines.size())) {
      refused += Long.parseLong(line.strip().split("\\s+")[column], 16);
    }
    boolean roomy =
        limit != null && limit.matches("\\d{1,9}") && Integer.parseInt(limit) >= MANY_NEIGHBOURS;
    return refused == 0 || roomy
        ? new Finding.Ok(
            roomy
                ? "there is space for " + limit + " neighbours"
                : "the neighbour table never overflowed")
        : new Finding.Warning(
            NEIGHBOURS,
            "since boot, the neighbour table had no space for an IPv6 neighbour %s times"
                    .formatted(refused)
                + (limit == null ? "" : "; the limit is " + limit + " for the whole host"),
            "on the host itself: sysctl net.ipv6.neigh.default.gc_thresh3=16384, gc_thresh2=8192"
                + " and gc_thresh1=4096; each plane needs a neighbour for each host of its subnet");
  }

  /* Returns the names in a folder; empty if there is no folder. */
  private static List<String> names(Path folder, String pattern) {
    List<String> names = new ArrayList<>();
    try (var files = Files.newDirectoryStream(folder, pattern)) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (IOException none) {
      return List.of();
    }
    names.sort(null);
    return names;
  }

  static Finding version(String release) {
    Matcher matcher = Pattern.compile("^(\\d+)\\.(\\d+)").matcher(release);
    if (!matcher.find()) {
      return new Finding.Unknown("the kernel's version is unknown: " + release);
    }
    return Integer.parseInt(matcher.group(1)) < 5
        ? new Finding.Warning(
            OLD,
            "kernel " + release + ": the soft device sends single packets, six times slower",
            "use kernel 5.0 or later")
        : new Finding.Ok("kernel " + release);
  }

  private static void sharedMemory(List<Finding> findings) {
    Path folder = Path.of("/dev/shm");
    try {
      long free = Files.getFileStore(folder).getUsableSpace();
      findings.add(
          free < SMALL_SHARED_MEMORY
              ? new Finding.Warning(
                  SHARED_MEMORY,
                  "/dev/shm has %s MiB left".formatted(free >> 20),
                  "mount it larger; in a container, --shm-size or --ipc=host")
              : new Finding.Ok("/dev/shm has %s MiB left".formatted(free >> 20)));
    } catch (IOException absent) {
      findings.add(
          new Finding.Warning(
              SHARED_MEMORY,
              "/dev/shm can't be used: " + FileFailure.reason(absent),
              "mount a tmpfs there"));
    }
  }

  /*
   * Checks the limit of socket buffers. A network namespace may not show the host's limit; then
   * there is no finding.
   */
  private static void buffers(List<Finding> findings) {
    String text = Host.text(LARGEST_BUFFER);
    if (text != null && text.matches("\\d+")) {
      long bytes = Long.parseLong(text);
      findings.add(
          bytes < SMALL_BUFFER
              ? new Finding.Warning(
                  BUFFERS,
                  "net.core.rmem_max is %s bytes; the soft device loses packets in bursts"
                      .formatted(bytes),
                  "sysctl net.core.rmem_max=16777216 (without RDMA devices only)")
              : new Finding.Ok("socket buffers may have %s KiB".formatted(bytes >> 10)));
    }
  }
}
