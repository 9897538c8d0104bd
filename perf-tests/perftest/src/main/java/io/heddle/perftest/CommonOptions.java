package io.heddle.perftest;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of every test, under perftest's names. */
final class CommonOptions {
  private static final long LARGEST_MESSAGE_BYTES = Integer.MAX_VALUE;
  private static final int MOST_INLINE_BYTES = 1024;
  private static final String DEFAULT_JSON_FILE = "perftest_out.json";

  /** Parser of a message's length: a number, optionally followed by K or M. */
  static final class MessageSize implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      long unit = text.endsWith("K") ? 1 << 10 : text.endsWith("M") ? 1 << 20 : 1;
      String digits = unit == 1 ? text : text.substring(0, text.length() - 1);
      if (!digits.matches("[0-9]{1,10}")) {
        throw new TypeConversionException("'" + text + "' is not a size such as 2, 64K or 8M");
      }
      long size = Long.parseLong(digits) * unit;
      if (size < 1 || size > LARGEST_MESSAGE_BYTES) {
        throw new TypeConversionException(
            "'" + text + "' is not in 1 to " + LARGEST_MESSAGE_BYTES + " bytes");
      }
      return size;
    }
  }

  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      converter = MessageSize.class,
      description = "Bytes of a message (65536 for bandwidth, 2 for latency).")
  private @Nullable Long size;

  @Option(
      names = {"-a", "--all"},
      description = "All sizes from 2 to 2^23.")
  boolean all;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "N",
      description = "Messages per queue pair, at least 5 (5000 for write_bw, 1000 for the others).")
  private @Nullable Long iterations;

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      description = "Duration in seconds, instead of a number of messages.")
  private @Nullable Integer duration;

  @Option(
      names = {"-f", "--margin"},
      paramLabel = "SECONDS",
      description = "Seconds excluded at the start and at the end of a test by time (a quarter).")
  private @Nullable Integer margin;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      defaultValue = "18515",
      description = "TCP port of the server (${DEFAULT-VALUE}).")
  int tcpPort;

  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "NAME",
      description = "Device (the first that has an address).")
  private @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      defaultValue = "1",
      description = "Port of the device (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = {"-x", "--gid-index"},
      paramLabel = "INDEX",
      description = "Index of the GID (RoCE v2, not link-local, IPv4 before IPv6).")
  private @Nullable Integer gidIndex;

  @Option(names = "--ipv6", description = "Prefer an IPv6 GID; same as --ipv6-addr.")
  private boolean ipv6;

  @Option(names = "--ipv6-addr", hidden = true)
  private boolean ipv6Address;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 (the port's).")
  private @Nullable Integer mtu;

  @Option(
      names = {"-u", "--qp-timeout"},
      paramLabel = "EXPONENT",
      defaultValue = "14",
      description = "Acknowledgement timeout of 4.096 us times 2 to this power (${DEFAULT-VALUE}).")
  private int timeout;

  @Option(
      names = "--retry_count",
      paramLabel = "N",
      defaultValue = "7",
      description = "Tries after a timeout (${DEFAULT-VALUE}).")
  private int retries;

  @Option(
      names = {"-S", "--sl"},
      paramLabel = "N",
      defaultValue = "0",
      description = "Service level (${DEFAULT-VALUE}).")
  private int serviceLevel;

  @Option(
      names = "--tclass",
      paramLabel = "N",
      defaultValue = "0",
      description = "IPv6 traffic class (${DEFAULT-VALUE}).")
  private int trafficClass;

  @Option(
      names = {"-c", "--connection"},
      paramLabel = "TYPE",
      defaultValue = "RC",
      description = "Connection type; only RC.")
  private String connection = "RC";

  @Option(names = "--out_json", description = "Also write the report as JSON.")
  private boolean json;

  @Option(
      names = "--out_json_file",
      paramLabel = "FILE",
      defaultValue = DEFAULT_JSON_FILE,
      description = "File of the JSON report (${DEFAULT-VALUE}).")
  private String jsonFile = DEFAULT_JSON_FILE;

  @Option(
      names = "--output",
      paramLabel = "FIGURE",
      description = "Print one number only: bandwidth, message_rate or latency.")
  private @Nullable String only;

  @Option(
      names = "--percentiles",
      description = "Also print the distribution of completion times or half round trips.")
  private boolean percentiles;

  @Option(
      names = {"-F", "--CPU-freq", "--use_old_post_send", "--disable_pcie_relaxed"},
      description = "Accepted for scripts; has no effect.")
  private boolean noEffect;

  @Option(
      names = {"-I", "--inline_size"},
      paramLabel = "BYTES",
      description =
          "Longest message sent inline, if the device supports that"
              + " (write_lat 220, send_lat 236, else 0).")
  private @Nullable Integer inlineSize;

  @Option(
      names = {"-R", "--rdma_cm", "-z", "--comm_rdma_cm"},
      hidden = true)
  private boolean connectionManager;

  CommandLine line() {
    return java.util.Objects.requireNonNull(spec).commandLine();
  }

  CommandLine.ParameterException wrong(String sentence) {
    return new CommandLine.ParameterException(line(), sentence);
  }

  void requireRange(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw wrong(option + " " + value + " is not in " + least + " to " + most);
    }
  }

  int inline(TestKind kind) {
    if (inlineSize == null) {
      return kind.defaultInlineBytes();
    }
    requireRange("-I", inlineSize, 0, MOST_INLINE_BYTES);
    if (kind.isRead()) {
      throw wrong("-I applies to sends and writes, not to reads");
    }
    return inlineSize;
  }

  long size(TestKind kind) {
    if (all) {
      return 1 << 23;
    }
    return size == null ? kind.defaultSizeBytes() : size;
  }

  long iterations(TestKind kind) {
    if (duration != null) {
      return 0;
    }
    long count = iterations == null ? kind.defaultIterations() : iterations;
    requireRange("-n", count, 5, 100_000_000);
    return count;
  }

  int duration() {
    if (duration == null) {
      return 0;
    }
    requireRange("-D", duration, 1, 1_000_000);
    if (all) {
      throw wrong("-D and -a exclude each other: set one size with -s");
    }
    return duration;
  }

  int margin() {
    int seconds = duration();
    int quarter = margin == null ? seconds / 4 : margin;
    if (seconds > 0 && (quarter < 0 || seconds <= 2 * quarter)) {
      throw wrong("-D " + seconds + " leaves no time between two margins of -f " + quarter);
    }
    return quarter;
  }

  Settings.Link link() {
    requireRange("-i", port, 1, 255);
    requireRange("-u", timeout, 0, 31);
    requireRange("--retry_count", retries, 0, 7);
    requireRange("-S", serviceLevel, 0, 15);
    requireRange("--tclass", trafficClass, 0, 255);
    requireRange("-p", tcpPort, 1, 65_535);
    if (gidIndex != null) {
      requireRange("-x", gidIndex, 0, 65_535);
    }
    if (mtu != null && !List.of(256, 512, 1024, 2048, 4096).contains(mtu)) {
      throw wrong("-m " + mtu + ": an MTU is one of 256, 512, 1024, 2048 and 4096");
    }
    if (!connection.equalsIgnoreCase("RC")) {
      throw wrong("-c " + connection + ": only reliable connections (RC) are supported");
    }
    if (connectionManager) {
      throw wrong("rdma_cm is not supported: leave out -R and -z at both ends");
    }
    return new Settings.Link(
        device,
        port,
        gidIndex == null ? Settings.NO_GID_INDEX : gidIndex,
        ipv6 || ipv6Address,
        mtu == null ? 0 : mtu,
        timeout,
        retries,
        trafficClass,
        serviceLevel);
  }

  Settings.Output output(
      TestKind kind, boolean gigabits, boolean unsorted, double rate, double messages) {
    List<String> allowed =
        kind.isLatency() ? List.of("latency") : List.of("bandwidth", "message_rate");
    if (only != null && !allowed.contains(only)) {
      throw wrong(
          "--output " + only + ": " + kind.commandName() + " has " + String.join(" and ", allowed));
    }
    return new Settings.Output(
        gigabits, only, percentiles, unsorted, json ? jsonFile : null, rate, messages);
  }
}
