package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.cli.kit.ByteSize;
import io.heddle.cli.kit.Json;
import io.heddle.platform.NanoClock;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightRules;
import io.heddle.spray.SprayPolicy;
import io.heddle.tools.demo.PlaneShare;
import io.heddle.tools.job.PolicyName;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class HeddleCommandTest {
  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... arguments) {
    CommandLine line = HeddleCommand.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(arguments);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "demo --rank 3                         | did you mean --ranks?",
        "demoo                                 | did you mean demo?",
        "demo --ranks 1                        | --ranks 1 is not in 2 to 250",
        "demo --whole                          | --whole requires --wan",
        "demo --planes 0                       | --planes 0 is not in 1 to 250",
        "demo --mtu 1000                       | --mtu 1000 is not in 1280 to 65535",
        "demo --weights 1,2                    | --weights names 2 weights for 4 planes",
        "demo --weights 0,0,0,0                | at least one must be above 0",
        "demo --weights 1,2,3,-1               | --weights -1 is not in 0 to 1000000",
        "demo --policy sprey                   | --policy sprey is not one of spray, pinned,"
            + " least-in-flight, spraylink, hash, packet; did you mean spray?",
        "demo --min-bytes 6                    | --min-bytes 6 is not a multiple of 4",
        "perf standin --min-bytes 6            | --min-bytes 6 is not a multiple of 4",
        "demo --min-bytes 16 --max-bytes 8     | --max-bytes 8 is not in 16 to",
        "demo --max-bytes 2Q                   | '2Q' is not a size such as 8, 64K, 64M or 1G",
        "demo --max-bytes 999999999999999G     | is more than a 64-bit number holds",
        "demo --kill-plane 2                   | exactly one @ must separate plane and time",
        "demo --kill-plane x@2                 | \"x\" is not the number of a plane",
        "demo --kill-plane 2@0.1               | \"0.1\" is not a time from 0.5 to 600 seconds",
        "demo --kill-plane 2@3:1               | the plane would be restored before it is cut",
        "demo --kill-plane 2@1:2:3             | there are more than two times",
        "demo --until enough --fabric          | --until can't be combined with --kill-plane,"
            + " --fabric or --wan",
        "demo --until enough --wan             | --until can't be combined with --kill-plane,"
            + " --fabric or --wan",
        "demo --until / --planes 2             | --until: / already exists",
        "demo --until /no-such-folder/enough   | there is no folder /no-such-folder",
        "demo --kill-plane 5@1                 | --kill-plane's plane 5 is not in 1 to 4",
        "soak --minutes 0                      | --minutes 0 is less than 1",
        "soak --runs 0                         | --runs 0 is less than 1",
        "soak --seed=-1                        | --seed -1 is negative",
        "soak --sed 4                          | did you mean --seed?",
        "planes --jason                        | did you mean --json?",
        "perf write_bw --report_gbit           | did you mean --report_gbits?",
        "perf write_bm                         | did you mean write_bw?",
        "perf write_bw -m 1500                 | -m 1500: an MTU is one of 256, 512, 1024, 2048"
            + " and",
        "perf write_bw -p 65536                | -p 65536 is not in 1 to 65535",
        "perf write_bw -n 4                    | -n 4 is not in 5 to 100000000",
        "perf write_bw -s 3G                   | '3G' is not a size such as 2, 64K or 8M",
        "perf write_bw -s 0                    | '0' is not in 1 to 2147483647 bytes",
        "perf write_bw -D 4 -f 2               | leaves no time between two margins of -f 2",
        "perf write_bw -D 4 -a                 | -D and -a exclude each other",
        "perf write_bw -n 10 -l 3              | -n 10 is no multiple of -l 3",
        "perf write_bw -c UD                   | -c UD: only reliable connections (RC) are"
            + " supported",
        "perf write_bw -R                      | rdma_cm is not supported",
        "perf write_bw -b --report-both        | -b reports the sum of both directions; leave it",
        "perf read_bw -I 64                    | -I applies to sends and writes, not to reads",
        "perf write_lat -q 2                   | write_lat has no option -q",
        "perf write_lat --output bandwidth     | --output bandwidth: write_lat has latency",
        "perf send_bw --planes 0               | --planes 0 is not in 1 to 250",
        "perf plugin --outstanding 33          | --outstanding 33 is not in 1 to 32",
        "perf plugin --rival-threads 17        | --rival-threads 17 is not in 0 to 16",
        "perf plugin --rival-sockets 8         | --rival-sockets requires --rival-threads",
        "perf allreduce --rival-threads 16 --rival-sockets 5 | --rival-sockets 5 is not in 1 to 4",
        "perf plugin --factor 1                | --factor 1 is not in 2 to 1024",
        "perf plugin --kinds latencie          | --kinds latencie is not one of bandwidth,"
            + " duplex, latency; did you mean latency?",
        "perf failover --cases silent_bfdd     | did you mean silent-bfd?",
        "demo 5                                | demo takes options only; '5' is too much",
        "perf write_bw a b                     | write_bw takes HOST and options only; 'b' is too",
        "exporter --port 9400                  | heddle exporter has no option --port",
        "foo                                   | heddle has no command foo; there are planes, bgp",
        "foo --help                            | heddle has no command foo; there are planes, bgp",
        "demo --plaines 2 --help               | heddle demo has no option --plaines; did you mean",
        "bgp show                              | bgp show requires one of: destination, neighbours,"
            + " routes",
        "bgp --config x                        | heddle bgp has no option --config",
        "stat --json=yes                       | --json takes no value",
        "stat --interval                       | --interval requires a value: SECONDS",
        "bridge demo --packets 0               | --packets 0 is not in 1 to 10000000",
        "bridge demo --bytes 20                | --bytes 20 is not in 24 to 4096",
        "bridge shwo                           | did you mean show?",
        "lab cut                               | heddle lab cut requires PLANE",
        "lab cut x                             | PLANE 'x' is not a whole number",
        "lab up --rates x                      | --rates 'x' is not a number",
        "demo --ranks 2 --ranks 3              | option '--ranks' (N) should be specified only"
            + " once",
        "perf plugin --min-bytes 1M --max-bytes 1K | --max-bytes 1024 is not in 1048576 to",
        "perf plugni                           | did you mean plugin?",
        "perf allreduce --rounds 0             | --rounds 0 is not in 1 to 1000",
        "perf bgp --routes 0                   | --routes 0 is not in 1 to 1000000",
        "perf bgp --sender frr                 | --sender frr is not one of bird, prebuilt, both",
        "lab up --planes 2                     | --planes is for --shape planes",
        "lab up --shape planes --spines 2      | --spines is for --shape leaf-spine",
        "drain --end --stats .                 | --end requires a plane; drained are none",
        "soak --seed abc                       | 'abc' is not a whole number",
        "stat --interval abc                   | 'abc' is not a number"
      })
  void badOptionsAreReportedWithAllowedValues(String arguments, String sentence) {
    assertEquals(2, execute(arguments.strip().split(" ")));
    assertTrue(err.toString().contains(sentence), err.toString());
    assertTrue(err.toString().contains("--help"), err.toString());
    assertTrue(!err.toString().contains("ndex"), err.toString());
    assertEquals("", out.toString());
  }

  @Test
  void missingPluginIsReportedWithRemedy() {
    assertEquals(
        1, execute("demo", "--plugin", "/nowhere/plugin.so", "--driver", "/nowhere/driver"));
    assertEquals(
        "heddle: the plugin is missing: /nowhere/plugin.so; build it with ./heddle build\n",
        err.toString());
  }

  @Test
  void missingConfigurationIsReportedByBothCommands() {
    for (String command :
        List.of("bgp check --config /nowhere/bgp.conf", "bgp run --config /nowhere/bgp.conf")) {
      err.getBuffer().setLength(0);
      assertEquals(1, execute(command.split(" ")));
      assertEquals(
          "heddle: the configuration /nowhere/bgp.conf can't be read: it doesn't exist; write it,"
              + " or name another with --config\n",
          err.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({"8, 8", "64K, 65536", "64KiB, 65536", "64M, 67108864", "1g, 1073741824", "12B, 12"})
  void sizesArePowersOf1024(String text, long bytes) {
    assertEquals(bytes, new ByteSize().convert(text));
  }

  @Test
  void planesPrintOneJsonDocument() throws Exception {
    execute("planes", "--json");
    JsonNode document = Json.mapper().readTree(out.toString());
    assertTrue(document.path("planes").isArray());
    assertTrue(document.path("rejected").size() > 0, "every host has a loopback address: " + out);
    assertTrue(document.path("rejected").get(0).path("interface_name").isTextual());
  }

  @Test
  void planesReportHeldWeightsOfAnEndedDaemon() throws Exception {
    Path file = folder.resolve("routes");
    try (RoutePublisher publisher =
        RoutePublisher.create(file, "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM)) {
      publisher.goLive();
      execute("planes", "--routes", file.toString());
      assertTrue(!out.toString().contains("hold its last weights"), out.toString());
    }
    execute("planes", "--routes", file.toString());
    assertTrue(out.toString().contains(file + " has ended; jobs that used it hold its last"));
    out.getBuffer().setLength(0);
    Files.write(file, new byte[0]);
    execute("planes", "--json", "--routes", file.toString());
    JsonNode remarks = Json.mapper().readTree(out.toString()).path("remarks");
    assertTrue(remarks.toString().contains("hold its last weights"), remarks.toString());
    assertEquals("", err.toString());
  }

  @Test
  void failedWriteIsOneLine() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    assertEquals(1, execute("write-man-pages", file.toString()));
    assertEquals("heddle: " + file + " can't be used: it exists already\n", err.toString());
  }

  @Test
  void standinHasItsOwnDefaultSizes() {
    assertEquals(0, execute("perf", "standin", "--help"));
    String words = out.toString().replaceAll("\\s+", " ");
    assertTrue(words.contains("Smallest size, a multiple of 4 (1K)."), words);
    assertTrue(words.contains("Largest size; sizes double (16M)."), words);
    assertTrue(words.contains("All-reduces per size (10)."), words);
    assertTrue(words.contains("Rate of each device in each direction, Gbit/s; 0"), words);
  }

  @Test
  void helpAndVersionSucceed() {
    assertEquals(0, execute("--help"));
    assertEquals(0, execute("demo", "--help"));
    assertEquals(0, execute("--version"));
    assertTrue(out.toString().contains("--weights"), out.toString());
  }

  @Test
  void sharesFollowTheCounters() {
    List<Long> wire = PlaneShare.difference(List.of(100L, 50L), List.of(700L, 250L));
    List<PlaneShare> shares = PlaneShare.of(new int[] {3, 1}, List.of(90L, 10L), wire);
    assertEquals(new PlaneShare(1, 3, 0.75, 90L, 0.9, 600L, 0.75), shares.get(0));
    assertEquals(new PlaneShare(2, 1, 0.25, 10L, 0.1, 200L, 0.25), shares.get(1));
  }

  @Test
  void missingCounterGivesNoShareInsteadOfZero() {
    PlaneShare share = PlaneShare.of(new int[] {1}, List.of(), List.of()).getFirst();
    assertEquals(new PlaneShare(1, 1, 1.0, null, null, null, null), share);
    assertTrue(share.line().strip().endsWith("-"), share.line());
  }

  @Test
  void everyOfferedPolicyExistsInThePlugin() {
    Set<String> known = new TreeSet<>(SprayPolicy.NAMES);
    known.add(SprayPolicy.PACKET);
    Set<String> offered = new TreeSet<>();
    for (PolicyName policy : PolicyName.values()) {
      offered.add(policy.toString());
    }
    assertEquals(known, offered);
  }
}
