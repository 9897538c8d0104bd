package io.heddle.tools.bench.perf;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.job.AnsweringProcess;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Contestant of {@code heddle perf calls}: a process whose plugin sends messages to itself on
 * request.
 */
final class CallCostContestant implements Contestant<String> {
  private static final Pattern PAUSE = Pattern.compile("Total: +([0-9]+) ns");
  private static final Pattern ALLOCATED = Pattern.compile("allocated=([0-9]+)([BKMG])");

  /** Names of the columns of a call's distribution, as the driver prints them in ns. */
  private static final List<String> PERCENTILES =
      List.of(", p50", ", p99", ", p99.9", ", p99.99", ", p99.999", ", most");

  private static final String IN_SOAKS = " in soaks";

  private final String name;
  private final AnsweringProcess process;
  private final @Nullable Path pauses;
  private int pausesBefore;
  private long allocatedBefore = -1;

  /**
   * Results of the soaks, in which every call is timed.
   *
   * @param longestP9999Us largest 99.99th percentile of a kind of call, µs
   * @param longestPauseUs longest pause of the JVM, µs
   * @param allocatedBytes number of bytes allocated by the thread that makes the calls, as the JVM
   *     rounds it (to KiB, or to MiB from 100 MiB on); null if unknown
   */
  record Soak(double longestP9999Us, double longestPauseUs, @Nullable Long allocatedBytes) {}

  /**
   * Starts the process.
   *
   * @param jvmOption additional option of the plugin's JVM; null for a plugin in C
   */
  CallCostContestant(
      Lab lab,
      String name,
      Path driver,
      Path plugin,
      Map<String, String> environment,
      @Nullable String jvmOption)
      throws IOException {
    this.name = name;
    RunFolder folder = new RunFolder();
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(lab.environment(0));
    all.put("STANDIN_FABRIC", folder.path().resolve("fabric").toString());
    if (jvmOption == null) {
      pauses = null;
    } else {
      pauses = folder.path().resolve("pauses.log");
      String log = "-Xlog:safepoint:file=" + pauses + ":uptime:filecount=0";
      all.put(
          JavaCompilers.VARIABLE, String.join(" ", jvmOption, log, "-XX:-DisableAttachMechanism"));
    }
    List<String> command = List.of(driver.toString(), plugin.toString());
    process = new AnsweringProcess(name, lab.command(0, command), all, folder);
  }

  @Override
  public String name() {
    return name;
  }

  boolean isJava() {
    return pauses != null;
  }

  @Override
  public void awaitWarm() throws InterruptedException {
    String line = process.next();
    if (!line.startsWith("ready ")) {
      throw process.failure("printed an unexpected line before it was ready: " + line);
    }
  }

  @Override
  public void measure(String step, Round round) throws InterruptedException {
    process.request(
        "round",
        line -> {
          String[] words = line.split(" ");
          if (words[0].equals("case")) {
            round.add(words[1].replace('_', ' '), "", "ns", Double.parseDouble(words[2]));
          }
        });
  }

  void soak(long milliseconds) throws InterruptedException {
    process.request("soak " + milliseconds, line -> {});
  }

  /** Resets the counts of calls, pauses and allocations. */
  void beginSoaks() throws IOException, InterruptedException {
    process.request("report", line -> {});
    allocatedBefore = allocatedBytes();
    /* Counted last, since reading the allocated bytes pauses the JVM too. */
    pausesBefore = pausesNs().size();
  }

  /**
   * Adds the number of messages and calls since {@link #beginSoaks}, and the distribution of each
   * call's latency.
   */
  Soak report(Contest contest) throws IOException, InterruptedException {
    double[] longestUs = {Double.NaN};
    process.request(
        "report",
        line -> {
          String[] words = line.split(" ");
          if (words[0].equals("messages")) {
            contest.add("messages", name, ", count", "", Double.parseDouble(words[1]));
            return;
          }
          contest.add(words[1] + IN_SOAKS, name, ", count", "", Double.parseDouble(words[2]));
          for (int i = 0; i < PERCENTILES.size(); i++) {
            contest.add(words[1] + IN_SOAKS, name, PERCENTILES.get(i), "us", us(words[3 + i]));
          }
          double p9999Us = us(words[3 + PERCENTILES.indexOf(", p99.99")]);
          longestUs[0] = Double.isNaN(longestUs[0]) ? p9999Us : Math.max(longestUs[0], p9999Us);
        });
    List<Long> all = pausesNs();
    List<Long> counted = all.subList(pausesBefore, all.size());
    long after = allocatedBytes();
    if (isJava()) {
      contest.add("pauses", name, ", count", "", counted.size());
    }
    return new Soak(
        longestUs[0],
        counted.stream().mapToLong(Long::longValue).max().orElse(0) / 1e3,
        allocatedBefore < 0 || after < 0 ? null : after - allocatedBefore);
  }

  private static double us(String nanoseconds) {
    return Long.parseLong(nanoseconds) / 1e3;
  }

  private List<Long> pausesNs() throws IOException {
    List<Long> found = new ArrayList<>();
    if (pauses != null && Files.exists(pauses)) {
      for (String line : Files.readAllLines(pauses)) {
        Matcher total = PAUSE.matcher(line);
        if (total.find()) {
          found.add(Long.parseLong(total.group(1)));
        }
      }
    }
    return found;
  }

  /*
   * Returns the number of bytes allocated by the thread that makes the calls, which is the
   * process's first thread; −1 if unknown.
   */
  private long allocatedBytes() throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (pauses == null || !Files.isExecutable(jcmd)) {
      return -1;
    }
    String pid = Long.toString(process.pid());
    Process asked =
        new ProcessBuilder(jcmd.toString(), pid, "Thread.print", "-e")
            .redirectErrorStream(true)
            .start();
    long bytes = -1;
    for (String line : new String(asked.getInputStream().readAllBytes(), UTF_8).split("\n")) {
      Matcher allocated = ALLOCATED.matcher(line);
      if (line.contains(" nid=" + pid + " ") && allocated.find()) {
        int shift = "BKMG".indexOf(allocated.group(2)) * 10;
        bytes = Long.parseLong(allocated.group(1)) << shift;
      }
    }
    asked.waitFor();
    return bytes;
  }

  @Override
  public void close() throws IOException {
    process.close();
  }
}
