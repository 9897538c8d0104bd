package io.heddle.tools.bench.perf;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.heddle.tools.job.AnsweringProcess;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Contestant of {@code heddle perf calls}: a process whose plugin sends messages to itself on
 * request.
 */
final class CallCostContestant implements AutoCloseable {
  private static final Pattern PAUSE = Pattern.compile("Total: +([0-9]+) ns");
  private static final Pattern ALLOCATED = Pattern.compile("allocated=([0-9]+)([BKMG])");

  private final String name;
  private final AnsweringProcess process;
  private final @Nullable Path pauses;
  private final Map<String, List<Double>> figures = new LinkedHashMap<>();
  private int pausesBefore;
  private long allocatedBefore = -1;

  /**
   * Starts the process.
   *
   * @param jvmOptions additional options of the plugin's JVM; null for a plugin in C
   */
  CallCostContestant(
      Lab lab,
      String name,
      List<String> command,
      Map<String, String> environment,
      @Nullable List<String> jvmOptions)
      throws IOException {
    this.name = name;
    RunFolder folder = new RunFolder();
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(lab.environment(0));
    all.put("STANDIN_FABRIC", folder.path().resolve("fabric").toString());
    if (jvmOptions == null) {
      pauses = null;
    } else {
      pauses = folder.path().resolve("pauses.log");
      List<String> options = new ArrayList<>(jvmOptions);
      options.add("-Xlog:safepoint:file=" + pauses + ":uptime:filecount=0");
      options.add("-XX:-DisableAttachMechanism");
      all.put(JavaCompilers.VARIABLE, String.join(" ", options));
    }
    process = new AnsweringProcess(name, lab.command(0, command), all, folder);
  }

  String name() {
    return name;
  }

  boolean isJava() {
    return pauses != null;
  }

  /** Returns the times of each case in ns, one per counted round. */
  Map<String, List<Double>> figures() {
    return figures;
  }

  void awaitReady() throws InterruptedException {
    String line = process.next();
    if (!line.startsWith("ready ")) {
      throw process.failure("printed an unexpected line before it was ready: " + line);
    }
  }

  void round(boolean counts) throws InterruptedException {
    process.request(
        "round",
        line -> {
          String[] words = line.split(" ");
          if (counts && words[0].equals("case")) {
            figures
                .computeIfAbsent(words[1], unused -> new ArrayList<>())
                .add(Double.parseDouble(words[2]));
          }
        });
  }

  void soak(long milliseconds) throws InterruptedException {
    process.request("soak " + milliseconds, line -> {});
  }

  /**
   * Returns the number of messages and the latencies of calls in the soaks since the last call of
   * this method.
   */
  CallCostReport.Soak report() throws InterruptedException {
    List<CallCostReport.Tail> tails = new ArrayList<>();
    long[] messages = {0};
    process.request(
        "report",
        line -> {
          String[] words = line.split(" ");
          if (words[0].equals("messages")) {
            messages[0] = Long.parseLong(words[1]);
          } else {
            tails.add(CallCostReport.Tail.parse(words));
          }
        });
    return new CallCostReport.Soak(messages[0], tails);
  }

  /** Resets the counts of calls, pauses and allocations. */
  void beginSoaks() throws IOException, InterruptedException {
    report();
    allocatedBefore = allocatedBytes();
    /* Counted last, since reading the allocated bytes pauses the JVM too. */
    pausesBefore = pausesNs().size();
  }

  /**
   * Returns pauses and allocations of the JVM since {@link #beginSoaks}; null for a plugin in C.
   */
  CallCostReport.@Nullable Machine machine() throws IOException, InterruptedException {
    if (pauses == null) {
      return null;
    }
    List<Long> all = pausesNs();
    List<Long> counted = all.subList(pausesBefore, all.size());
    long after = allocatedBytes();
    return new CallCostReport.Machine(
        counted.size(),
        counted.stream().mapToLong(Long::longValue).max().orElse(0) / 1e3,
        allocatedBefore < 0 || after < 0 ? null : after - allocatedBefore);
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
