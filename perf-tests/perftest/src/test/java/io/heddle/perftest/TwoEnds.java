package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.TcpPorts;
import io.heddle.verbs.VerbsProvider;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * Server and client of one test in one process, each with its own soft device on its own loopback
 * addresses. Neither end may leave a verbs object open.
 */
final class TwoEnds {
  private static final long LIMIT_SECONDS = 60;
  private static int used;

  private final int host;

  TwoEnds() {
    host = nextHost();
  }

  private static synchronized int nextHost() {
    used += 2;
    return used;
  }

  /** Output of an end, and its failure if it failed. */
  record Output(String out, @Nullable HeddleException failure) {
    /** Returns the words of the report's line that starts with this message size. */
    String[] row(long size) {
      return out.lines()
          .map(String::strip)
          .filter(line -> line.startsWith(size + " "))
          .findFirst()
          .map(line -> line.split("\\s+"))
          .orElseThrow(() -> new AssertionError("no row for size " + size + " in\n" + out));
    }
  }

  /** Results of both ends. */
  record Both(Output server, Output client) {}

  /** Returns a command with its options, such as {@code write_bw -s 64}. */
  static PerftestCommand command(String arguments) {
    String[] words = arguments.strip().split(" +");
    PerftestCommand command =
        switch (words[0]) {
          case "write_bw" -> new WriteBandwidth();
          case "send_bw" -> new SendBandwidth();
          case "read_bw" -> new ReadBandwidth();
          case "write_lat" -> new WriteLatency();
          case "send_lat" -> new SendLatency();
          default -> throw new IllegalArgumentException(words[0]);
        };
    CommandLine line = new CommandLine(command);
    line.parseArgs(java.util.Arrays.copyOfRange(words, 1, words.length));
    return command;
  }

  /**
   * Returns the addresses of an end: 127.x.y.1 … as planes a, b, …; x and y are unique to this
   * process.
   */
  private String planes(int end, int count) {
    long pid = ProcessHandle.current().pid();
    List<String> rules = new ArrayList<>();
    for (int plane = 0; plane < count; plane++) {
      String address = "127." + (64 + pid % 64) + "." + (host + end) % 256 + "." + (plane + 1);
      rules.add(address + "=" + (char) ('a' + plane));
    }
    return String.join(",", rules);
  }

  private Output run(String arguments, Map<String, String> environment) {
    LeakLedger ledger = new LeakLedger();
    List<VerbsProvider> providers = new ArrayList<>();
    ServiceLoader.load(VerbsProvider.class).forEach(providers::add);
    StringWriter out = new StringWriter();
    HeddleException failure = null;
    try {
      TestDevice.Source source =
          new TestDevice.Source(providers, environment, Log.toStandardError(), ledger);
      new Session(command(arguments).settings(), source, new PrintWriter(out, true)).run();
    } catch (HeddleException failed) {
      failure = failed;
    }
    assertEquals(Map.of(), ledger.open(), "left open by " + arguments);
    return new Output(out.toString(), failure);
  }

  private Map<String, String> environment(int end, int planes) {
    Map<String, String> environment = new HashMap<>();
    environment.put("HEDDLE_PROVIDER", "soft");
    environment.put("HEDDLE_PLANES", planes(end, planes));
    return environment;
  }

  Both run(String both) throws Exception {
    return run(both, both, 1);
  }

  /** Runs both ends at once, each with the given number of planes. */
  Both run(String server, String client, int planes) throws Exception {
    String port = " -p " + TcpPorts.free();
    /*
     * Both ends may share a core with the rest of a build. perftest's usual limit for
     * acknowledgements, half a second, is too short then.
     */
    String deadline = " -u 20";
    CompletableFuture<Output> serving =
        CompletableFuture.supplyAsync(
            () -> run(server + port + deadline, environment(0, planes)),
            command -> thread(command));
    CompletableFuture<Output> asking =
        CompletableFuture.supplyAsync(
            () ->
                connecting(
                    client + port + deadline + " 127.0.0.1", environment(1, planes), serving),
            command -> thread(command));
    return new Both(get(serving), get(asking));
  }

  private static void thread(Runnable command) {
    Thread thread = new Thread(command, "end");
    thread.setDaemon(true);
    thread.start();
  }

  /* Runs the client; runs it again as long as the server doesn't listen yet. */
  private Output connecting(
      String arguments, Map<String, String> environment, CompletableFuture<Output> serving) {
    while (true) {
      Output output = run(arguments, environment);
      boolean early =
          output.failure() != null
              && output.failure().getMessage().contains("start the server first");
      if (!early || serving.isDone()) {
        return output;
      }
    }
  }

  private static Output get(CompletableFuture<Output> end) throws Exception {
    try {
      return Deadline.ofSeconds(LIMIT_SECONDS).get(end);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof Exception cause ? cause : failed;
    }
  }
}
