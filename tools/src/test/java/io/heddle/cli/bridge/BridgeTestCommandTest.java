package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.cli.kit.Json;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Test of {@code heddle bridge test} with a bridge between network namespaces. */
@EndsWithin(120)
@SystemTest
final class BridgeTestCommandTest extends BridgedFabrics {
  /** Exit code and outputs of a command. */
  private record Output(int code, String out, String err) {}

  @BeforeEach
  void setUp() {
    open(1500);
  }

  private Path start(String... groups) throws Exception {
    String text =
        """
        name = test
        status = %s
        [fabric a]
        interface = e1
        address = 10.1.0.254,fd01::254
        [fabric b]
        interface = e2
        address = 10.2.0.254,fd02::254
        %s
        """
            .formatted(folder.resolve("status"), String.join("\n", groups));
    start(BridgeConfigParser.parse("bridge.conf", text));
    return Files.writeString(folder.resolve("bridge.conf"), text);
  }

  /* Gives host a an interface in fabric b too. */
  private void makeHostOfBoth() {
    run(
        HOST_A,
        List.of(
            "ip addr add 10.2.0.1/24 dev e2",
            "ip link set e2 up",
            "ip addr add fd02::1/64 dev e2 nodad"));
  }

  private Output test(int host, String... arguments) {
    return NetworkNamespace.call(
        fabrics.namespace(host),
        () -> {
          StringWriter out = new StringWriter();
          StringWriter err = new StringWriter();
          CommandLine line =
              new CommandLine(new BridgeTestCommand())
                  .setOut(new PrintWriter(out))
                  .setErr(new PrintWriter(err));
          int code = line.execute(arguments);
          return new Output(code, out.toString(), err.toString());
        });
  }

  private static Map<String, String> states(Output output) throws Exception {
    Map<String, String> states = new TreeMap<>();
    for (JsonNode each : Json.mapper().readTree(output.out()).path("directions")) {
      states.put(
          each.path("group").asText()
              + " "
              + each.path("from").asText()
              + ">"
              + each.path("to").asText(),
          each.path("state").asText());
    }
    return states;
  }

  @Test
  void machineInBothFabricsTestsBothDirections() throws Exception {
    makeHostOfBoth();
    Path config =
        start("[group 239.1.1.1]", "[group ff05::1:1]", "[group 239.1.1.2]\ndirection = a-to-b");
    Output output =
        test(
            HOST_A,
            "--from=e1",
            "--to=e2",
            "--config=" + config,
            "--patience=20",
            "--json",
            "--bytes=1001");
    assertEquals(0, output.code(), output.toString());
    assertEquals(
        Map.of(
            "239.1.1.1 a>b", "flows",
            "239.1.1.1 b>a", "flows",
            "ff05::1:1 a>b", "flows",
            "ff05::1:1 b>a", "flows",
            "239.1.1.2 a>b", "flows",
            "239.1.1.2 b>a", "shut, as configured"),
        states(output));
    JsonNode report = Json.mapper().readTree(output.out());
    assertTrue(report.path("one_clock").asBoolean(), output.out());
    JsonNode direction = report.path("directions").path(0);
    assertEquals(20, direction.path("arrived").asInt(), output.out());
    assertTrue(direction.path("median_us").asDouble() > 0, output.out());
    /*
     * The bridge dropped none of the test's datagrams, so none had a wrong CRC or was taken for a
     * copy.
     */
    assertEquals(Map.of(), fromA(0).drops());
  }

  @Test
  void reportsBrokenDirection() throws Exception {
    makeHostOfBoth();
    /*
     * The command on the host doesn't know the bridge's configuration, so it expects both
     * directions of the group to work.
     */
    start("[group 239.1.1.1]", "[group ff05::1:1]", "[group 239.1.1.2]\ndirection = a-to-b");
    String[] groups = {"239.1.1.1", "ff05::1:1", "239.1.1.2"};
    List<String> arguments =
        new ArrayList<>(List.of("--from=10.1.0.1", "--to=e2", "--patience=3", "--json"));
    /*
     * An address has one IP version, so with an address as {@code --from} groups of the other
     * version are refused.
     */
    arguments.addAll(List.of(groups));
    Output refused = test(HOST_A, arguments.toArray(String[]::new));
    assertEquals(2, refused.code(), refused.toString());
    assertTrue(refused.err().contains("no address of the family of group ff05::1:1"));
    arguments.set(0, "--from=e1");
    Output output = test(HOST_A, arguments.toArray(String[]::new));
    assertEquals(1, output.code(), output.toString());
    Map<String, String> states = states(output);
    assertEquals("nothing came", states.get("239.1.1.2 e2>e1"), output.out());
    assertEquals("flows", states.get("239.1.1.2 e1>e2"), output.out());
    assertEquals("flows", states.get("239.1.1.1 e2>e1"), output.out());
  }

  @Test
  void testsWithSenderAndReceiverOnTwoHosts() throws Exception {
    start("[group 239.1.1.1]", "[group ff05::1:1]");
    FutureTask<Output> receiver =
        new FutureTask<>(() ->
            test(
                HOST_B,
                "--to=e2",
                "--wait=60",
                "--patience=20",
                "--json",
                "239.1.1.1",
                "ff05::1:1"));
    Thread.ofPlatform().daemon().start(receiver);
    awaitMember();
    Output sender =
        test(HOST_A, "--from=e1", "--count=30", "--rate=1000", "239.1.1.1", "ff05::1:1");
    assertEquals(0, sender.code(), sender.toString());
    assertTrue(sender.out().contains("see the receiver's report"), sender.out());
    Output output = receiver.get();
    assertEquals(0, output.code(), output.toString());
    assertEquals(
        Map.of("239.1.1.1 sender>e2", "flows", "ff05::1:1 sender>e2", "flows"), states(output));
    String run = Json.mapper().readTree(output.out()).path("run").asText();
    assertTrue(sender.out().startsWith("test " + run + ": 30 datagrams"), sender.out());
  }

  /* Waits until the receiver is a member of both groups. */
  private void awaitMember() {
    await(() -> {
      String members = fabrics.runAt(HOST_B, List.of("ip", "maddr", "show", "dev", "e2"));
      return members.contains("239.1.1.1") && members.contains("ff05::1:1");
    });
  }

  @Test
  void invalidCommandLinesSendNothing() throws Exception {
    makeHostOfBoth();
    Path config = start("[group 239.1.1.1]", "[group 239.1.1.2]\ndirection = a-to-b");
    Path vague =
        Files.write(
            folder.resolve("vague.conf"),
            List.of(
                "[fabric a]\ninterface = e1",
                "[fabric b]\ninterface = e2",
                "[redundancy]\nbridge-id = 1\nkey-file = /nowhere/bridge.key",
                "[group 239.1.1.2]\ndirection = a-to-b"));
    Map<String, String[]> wrong = new TreeMap<>();
    wrong.put("say --from, --to, or both", new String[] {"239.1.1.1"});
    wrong.put("e9 is no interface or address", new String[] {"--from=e9", "239.1.1.1"});
    wrong.put("10.1.0.7 is no multicast address", new String[] {"--from=e1", "10.1.0.7"});
    wrong.put("name groups, or the bridge's", new String[] {"--from=e1"});
    wrong.put(
        "239.1.1.3; did you mean 239.1.1.",
        new String[] {"--from=e1", "--config=" + config, "239.1.1.3"});
    wrong.put("--rate 10001 is not in 1 to 10000", new String[] {"--from=e1", "--rate=10001"});
    wrong.put("say --from-fabric a or b", new String[] {"--from=e1", "--config=" + vague});
    for (Map.Entry<String, String[]> each : wrong.entrySet()) {
      Output output = test(HOST_A, each.getValue());
      assertEquals(2, output.code(), output.toString());
      assertTrue(output.err().contains(each.getKey()), output.toString());
    }
    Output named = test(HOST_A, "--from=e1", "--config=" + vague, "--from-fabric=b", "--count=1");
    assertEquals(0, named.code(), named.toString());
    assertEquals(0, fromA(0).arrived());
  }
}
