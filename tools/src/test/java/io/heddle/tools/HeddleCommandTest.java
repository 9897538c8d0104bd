package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.transport.spray.SprayPolicy;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class HeddleCommandTest {
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
        "demo --rank 3                         | Did you mean --ranks?",
        "demoo                                 | Did you mean demo?",
        "demo --ranks 1                        | --ranks 1 is not in 2 to 250",
        "demo --planes 0                       | --planes 0 is not in 1 to 250",
        "demo --mtu 1000                       | --mtu 1000 is not in 1280 to 65535",
        "demo --weights 1,2                    | --weights names 2 weights for 4 planes",
        "demo --weights 0,0,0,0                | one at least must carry",
        "demo --weights 1,2,3,-1               | --weights -1 is not in 0 to 1000000",
        "demo --policy sprey                   | 'sprey'",
        "demo --min-bytes 6                    | --min-bytes 6 is not a multiple of 4",
        "demo --min-bytes 16 --max-bytes 8     | --max-bytes 8 is not in 16 to",
        "demo --max-bytes 2Q                   | '2Q' is not a size such as 8, 64K, 64M or 1G",
        "demo --max-bytes 999999999999999G     | is more than a 64-bit number holds",
        "demo --kill-plane 2                   | there is no single @ between plane and time",
        "demo --kill-plane x@2                 | \"x\" is no plane's number",
        "demo --kill-plane 2@0.1               | \"0.1\" is no time from 0.5 to 600 seconds",
        "demo --kill-plane 2@3:1               | the plane would return before it is cut",
        "demo --kill-plane 2@1:2:3             | there are more than two times",
        "demo --kill-plane 5@1                 | --kill-plane's plane 5 is not in 1 to 4",
        "soak --minutes 0                      | --minutes 0 is less than 1",
        "soak --runs 0                         | --runs 0 is less than 1",
        "soak --seed=-1                        | --seed -1 is negative",
        "soak --sed 4                          | Did you mean --seed?",
        "planes --jason                        | Did you mean --json?",
        "perf write_bw --report_gbit           | Did you mean --report_gbits?",
        "perf write_bm                         | Did you mean write_bw?",
        "perf write_bw -m 1500                 | -m 1500: an MTU is one of 256, 512, 1024, 2048"
            + " and",
        "perf write_bw -p 65536                | -p 65536 is not in 1 to 65535",
        "perf write_bw -n 4                    | -n 4 is not in 5 to 100000000",
        "perf write_bw -s 3G                   | '3G' is not a size such as 2, 64K or 8M",
        "perf write_bw -s 0                    | '0' is not in 1 to 2147483647 bytes",
        "perf write_bw -D 4 -f 2               | leaves nothing between two margins of -f 2",
        "perf write_bw -D 4 -a                 | -D and -a don't go together",
        "perf write_bw -n 10 -l 3              | -n 10 is no multiple of -l 3",
        "perf write_bw -c UD                   | -c UD: reliable connections (RC) are all there is",
        "perf write_bw -R                      | rdma_cm isn't spoken here",
        "perf write_lat --output bandwidth     | --output bandwidth: write_lat has latency",
        "perf send_bw --planes 0               | --planes 0 is not in 1 to 250",
        "perf plugin --outstanding 33          | --outstanding 33 is not in 1 to 32",
        "perf plugin --factor 1                | --factor 1 is not in 2 to 1024",
        "perf plugin --kinds latencie          | 'latencie'",
        "perf plugin --min-bytes 1M --max-bytes 1K | --max-bytes 1024 is not in 1048576 to",
        "perf plugni                           | Did you mean",
        "perf allreduce --rounds 0             | --rounds 0 is not in 1 to 1000",
        "perf bgp --routes 0                   | --routes 0 is not in 1 to 1000000",
        "perf bgp --sender frr                 | --sender frr is not one of bird, prebuilt, both",
        "lab up --planes 2                     | --planes is for --shape planes",
        "lab up --shape planes --spines 2      | --spines is for --shape leaf-spine",
        "drain --end --stats .                 | --end wants a plane; drained are none",
        "soak --seed abc                       | 'abc' is not a whole number",
        "stat --interval abc                   | 'abc' is not a number"
      })
  void badOptionsAreNamedWithWhatIsAllowed(String arguments, String sentence) {
    assertEquals(2, execute(arguments.strip().split(" ")));
    assertTrue(err.toString().contains(sentence), err.toString());
    assertTrue(err.toString().contains("--help"), err.toString());
    assertEquals("", out.toString());
  }

  @Test
  void aMissingPluginIsNamedWithTheRemedy() {
    assertEquals(
        1, execute("demo", "--plugin", "/nowhere/plugin.so", "--driver", "/nowhere/driver"));
    assertEquals(
        "heddle: the plugin is missing: /nowhere/plugin.so; build it with ./heddle build\n",
        err.toString());
  }

  @ParameterizedTest
  @CsvSource({"8, 8", "64K, 65536", "64KiB, 65536", "64M, 67108864", "1g, 1073741824", "12B, 12"})
  void sizesArePowersOf1024(String text, long bytes) {
    assertEquals(bytes, new ByteSize().convert(text));
  }

  @Test
  void planesAreOneJsonDocument() throws Exception {
    execute("planes", "--json");
    JsonNode document = Json.mapper().readTree(out.toString());
    assertTrue(document.path("planes").isArray());
    assertTrue(document.path("rejected").size() > 0, "every host has a loopback address: " + out);
    assertTrue(document.path("rejected").get(0).path("interface_name").isTextual());
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
  void aWitnessThatIsMissingSaysNothingInsteadOfZero() {
    PlaneShare share = PlaneShare.of(new int[] {1}, List.of(), List.of()).getFirst();
    assertEquals(new PlaneShare(1, 1, 1.0, null, null, null, null), share);
    assertTrue(share.line().strip().endsWith("-"), share.line());
  }

  @Test
  void everyPolicyThatIsOfferedIsOneOfThePlugins() {
    Set<String> known = new TreeSet<>(SprayPolicy.NAMES);
    known.add(SprayPolicy.PACKET);
    Set<String> offered = new TreeSet<>();
    for (DemoCommand.Policy policy : DemoCommand.Policy.values()) {
      offered.add(policy.toString());
    }
    assertEquals(known, offered);
  }
}
