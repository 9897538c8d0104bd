package io.heddle.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Check of the limit of memory that a process may pin for a device. */
final class LockedMemoryCheck implements Check {
  private static final Cause LIMIT =
      new Cause(
          "locked-memory",
          "the limit of locked memory is too small to register buffers for a device");
  private static final Pattern LIMIT_LINE = Pattern.compile("Max locked memory\\s+(\\S+)");
  private static final Pattern CAPABILITIES = Pattern.compile("CapEff:\\s*([0-9a-f]+)");
  private static final long IPC_LOCK = 1L << 14;
  private static final long NEEDED_BYTES = 4L << 30;

  @Override
  public String name() {
    return "locked-memory";
  }

  @Override
  public String summary() {
    return "The limit of locked memory (ulimit -l). It applies to RDMA devices, not to the soft"
        + " device, and not to processes with the capability IPC_LOCK.";
  }

  @Override
  public List<Cause> causes() {
    return List.of(LIMIT);
  }

  @Override
  public List<Finding> run(Host host) {
    String limits = Host.text(Path.of("/proc/self/limits"));
    String status = Host.text(Path.of("/proc/self/status"));
    Matcher limit = LIMIT_LINE.matcher(limits == null ? "" : limits);
    Matcher capabilities = CAPABILITIES.matcher(status == null ? "" : status);
    if (!limit.find() || !capabilities.find()) {
      return List.of(new Finding.Unknown("/proc/self/limits and status can't be read"));
    }
    String text = limit.group(1);
    if (text.equals("unlimited")) {
      return List.of(new Finding.Ok("no limit"));
    }
    long bytes = Long.parseUnsignedLong(text);
    String evidence = "ulimit -l is %s KiB".formatted(bytes >> 10);
    if ((Long.parseUnsignedLong(capabilities.group(1), 16) & IPC_LOCK) != 0) {
      return List.of(new Finding.Ok(evidence + ", and IPC_LOCK lifts it"));
    }
    if (host.devices().hardware().isEmpty()) {
      return List.of(new Finding.Ok(evidence + "; the soft device pins no memory"));
    }
    return bytes >= NEEDED_BYTES
        ? List.of(new Finding.Ok(evidence))
        : List.of(
            new Finding.Fault(
                LIMIT,
                evidence
                    + "; NCCL registers gigabytes with "
                    + host.devices().hardware().getFirst().name(),
                "\"* - memlock unlimited\" in /etc/security/limits.conf, LimitMEMLOCK=infinity for"
                    + " the scheduler's service, --ulimit memlock=-1 for containers"));
  }
}
