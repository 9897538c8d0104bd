package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion;
import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.cli.kit.Json;
import io.heddle.platform.testing.Checkout;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Test that docs/json.schema.json agrees with the printed records and their comments. So no name
 * can change without a change of the schema.
 */
final class JsonSchemaTest {
  private static final Path SCHEMA = Checkout.path("docs/json.schema.json");
  private static final Path MADE = Path.of("target", "json.schema.json");
  private static final int LINE = 120;
  private static final JsonSchemaFactory VALIDATORS =
      JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012);

  /** Name of the record that each command line prints. */
  private static final Map<String, String> DOCUMENTS = new LinkedHashMap<>();

  static {
    DOCUMENTS.put("heddle planes", "PlanesCommand$Document");
    DOCUMENTS.put("heddle planes --peer", "PeerPlanes$Document");
    DOCUMENTS.put("heddle version", "VersionCommand$Document");
    DOCUMENTS.put("heddle doctor", "DoctorCommand$Document");
    DOCUMENTS.put("heddle paths measure", "PathsMeasurement");
    DOCUMENTS.put("heddle paths fit", "PathsFit");
    DOCUMENTS.put("heddle paths pick", "PathsPick");
    DOCUMENTS.put("heddle paths predict", "PathsPrediction");
    DOCUMENTS.put("heddle paths check", "PathsCheck$Document");
    DOCUMENTS.put("heddle stat", "StatCommand$Document");
    DOCUMENTS.put("heddle errors", "ErrorsCommand$Document");
    DOCUMENTS.put("heddle drain", "DrainCommand$Document");
    DOCUMENTS.put("heddle bgp show neighbours", "BgpStatus$Daemon");
    DOCUMENTS.put("heddle bgp show routes", "BgpStatus$Routes");
    DOCUMENTS.put("heddle bgp show destination", "BgpStatus$Explanation");
    DOCUMENTS.put("heddle gateway show flows", "GatewayStatus$Flows");
    DOCUMENTS.put("heddle gateway show lists", "GatewayStatus$Lists");
    DOCUMENTS.put("heddle gateway show rules", "GatewayStatus$Rules");
    DOCUMENTS.put("heddle gateway show peers", "GatewayStatus$Peers");
    DOCUMENTS.put("heddle controller plan", "PlanDocument");
    DOCUMENTS.put("heddle controller show", "ControllerStatus$Overview");
    DOCUMENTS.put("heddle controller audit", "ControllerStatus$AuditReport");
    DOCUMENTS.put("heddle demo --wan", "WanReport");
    DOCUMENTS.put("heddle lab status", "FabricStatus");
    DOCUMENTS.put("heddle lab check", "LabCheckCommand$Document");
    DOCUMENTS.put("heddle demo", "DemoReport");
    DOCUMENTS.put("heddle demo --kill-plane", "KillPlaneDemo$Report");
    DOCUMENTS.put("heddle demo --fabric", "FabricDemoReport");
    DOCUMENTS.put("heddle soak", "SoakReport$Document");
    DOCUMENTS.put("heddle soak --wan", "WanSoakReport");
    DOCUMENTS.put("heddle simulate", "SimulateReport");
    DOCUMENTS.put("heddle simulate --check", "CheckReport");
    DOCUMENTS.put("heddle simulate --control-plane", "ControlPlaneReport");
    DOCUMENTS.put("heddle simulate --level flows", "FlowReport");
    DOCUMENTS.put("heddle bridge show", "BridgeStatus");
    DOCUMENTS.put("heddle bridge demo", "BridgeDemo$Report");
    DOCUMENTS.put("heddle bridge demo --failover", "FailoverDemo$Report");
    DOCUMENTS.put("heddle bridge latency", "LatencyReport");
    DOCUMENTS.put("heddle bridge check --host", "BridgeHostCheck$Report");
    DOCUMENTS.put("heddle bridge test", "GroupTestReport");
    for (String order : List.of("drain", "hold", "take", "yield")) {
      DOCUMENTS.put("heddle bridge " + order, "BridgeOrders$Outcome");
    }
    DOCUMENTS.put("heddle bridge set", "BridgeFaults$Outcome");
    DOCUMENTS.put("heddle bench", "BenchReport");
    for (String measurement :
        List.of(
            "plugin",
            "allreduce",
            "among-threads",
            "standin",
            "calls",
            "verbs",
            "start",
            "scale",
            "policies",
            "one-sided",
            "packet",
            "switching",
            "flood",
            "bgp",
            "failover")) {
      DOCUMENTS.put("heddle perf " + measurement, "Results");
    }
    DOCUMENTS.put("heddle perf one-sided-check", "PerfOneSidedCheckCommand$Document");
  }

  @TempDir private Path folder;

  @Test
  void everyCommandThatPrintsJsonIsListed() {
    Set<String> printing = new TreeSet<>();
    collect(HeddleCommand.commandLine(), printing);
    Set<String> listed = new TreeSet<>();
    DOCUMENTS.keySet().forEach(each -> listed.add(each.replaceAll(" --.*", "")));
    assertEquals(printing, listed);
  }

  private static void collect(CommandLine line, Set<String> printing) {
    if (line.getCommandSpec().findOption("--json") != null) {
      printing.add(line.getCommandSpec().qualifiedName());
    }
    line.getSubcommands().values().forEach(each -> collect(each, printing));
  }

  @Test
  void theSchemaIsThatOfTheRecords() throws Exception {
    RecordSchemas records = new RecordSchemas();
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    root.put("title", "Documents that the commands of heddle print with --json");
    ObjectNode definitions = JsonNodeFactory.instance.objectNode();
    for (Map.Entry<String, String> each : DOCUMENTS.entrySet()) {
      ObjectNode document = definitions.putObject(key(each.getKey())).put("title", each.getKey());
      document.setAll(records.of(records.type(each.getValue())));
      root.withArray("anyOf").addObject().put("$ref", "#/$defs/" + key(each.getKey()));
    }
    root.set("$defs", definitions);
    StringBuilder text = new StringBuilder();
    write(root, "", text);
    text.append('\n');
    Files.writeString(MADE, text);
    String existing = Files.exists(SCHEMA) ? Files.readString(SCHEMA) : "";
    assertEquals(
        text.toString(), existing, "to renew the schema: cp tools/target/json.schema.json docs/");
  }

  private static String key(String command) {
    return command.replace(" --", "--").replace(' ', '-');
  }

  /* Writes a node of the schema, in one line if it fits. */
  private static void write(JsonNode node, String indent, StringBuilder text) {
    String flat = node.toString();
    if (node.isValueNode() || node.isEmpty() || flat.length() + indent.length() < LINE) {
      text.append(flat);
      return;
    }
    String inner = indent + "  ";
    String between = "\n";
    text.append(node.isArray() ? '[' : '{');
    if (node.isArray()) {
      for (JsonNode each : node) {
        write(each, inner, text.append(between).append(inner));
        between = ",\n";
      }
    } else {
      for (Map.Entry<String, JsonNode> each : node.properties()) {
        text.append(between).append(inner).append('"').append(each.getKey()).append("\": ");
        write(each.getValue(), inner, text);
        between = ",\n";
      }
    }
    text.append('\n').append(indent).append(node.isArray() ? ']' : '}');
  }

  @Test
  void everyNameIsExplained() throws Exception {
    Set<String> silent = new TreeSet<>();
    for (JsonNode each : Json.mapper().readTree(SCHEMA.toFile()).path("$defs")) {
      collectUndescribed(each.path("title").asText(), each, silent);
    }
    assertEquals(Set.of(), silent);
  }

  /* Collects names without description. An object needs none if each of its own names has one. */
  private static void collectUndescribed(String path, JsonNode schema, Set<String> silent) {
    for (Map.Entry<String, JsonNode> each : schema.path("properties").properties()) {
      JsonNode value = each.getValue();
      JsonNode of = value;
      while (of.has("items")) {
        of = of.path("items");
      }
      if (!of.has("properties") && !value.has("description")) {
        silent.add(path + " " + each.getKey());
      }
      collectUndescribed(path + " " + each.getKey(), of, silent);
    }
  }

  @Test
  void realDocumentsFitTheSchema() throws Exception {
    JsonNode schemas = Json.mapper().readTree(SCHEMA.toFile()).path("$defs");
    String stats = folder.toString();
    Map<String, List<String>> commands = new LinkedHashMap<>();
    commands.put("heddle-planes", List.of("planes", "--json"));
    commands.put("heddle-version", List.of("version", "--json"));
    commands.put("heddle-doctor", List.of("doctor", "--all", "--json", "--stats", stats));
    commands.put("heddle-stat", List.of("stat", "--json", "--stats", stats));
    commands.put("heddle-errors", List.of("errors", "--json", "--stats", stats));
    for (Map.Entry<String, List<String>> each : commands.entrySet()) {
      String text = print(each.getValue());
      Set<String> faults = faults(schemas.path(each.getKey()), Json.mapper().readTree(text));
      assertEquals(Set.of(), faults, each.getValue() + ": " + text);
    }
  }

  /*
   * Returns the faults of a document. A name that isn't in the schema is a fault here, although
   * readers must accept names that a later version adds.
   */
  private static Set<String> faults(JsonNode schema, JsonNode document) {
    JsonNode strict = schema.deepCopy();
    forbidOtherNames(strict);
    Set<String> faults = new TreeSet<>();
    VALIDATORS.getSchema(strict).validate(document).forEach(each -> faults.add(each.getMessage()));
    return faults;
  }

  private static void forbidOtherNames(JsonNode schema) {
    if (schema instanceof ObjectNode object && schema.has("properties")) {
      object.put("additionalProperties", false);
    }
    schema.forEach(JsonSchemaTest::forbidOtherNames);
  }

  @Test
  void theSchemaIsOneOfItsDraft() throws Exception {
    JsonNode schema = Json.mapper().readTree(SCHEMA.toFile());
    JsonSchema draft =
        VALIDATORS.getSchema(SchemaLocation.of(SpecVersion.VersionFlag.V202012.getId()));
    assertEquals(Set.of(), draft.validate(schema));
  }

  @Test
  void documentsThatDontFitAreFound() throws Exception {
    JsonNode schema = Json.mapper().readTree(SCHEMA.toFile()).path("$defs").path("heddle-planes");
    JsonNode document =
        Json.mapper().readTree("{\"planes\":[{\"key\":3}],\"rejected\":[],\"odd\":1}");
    String faults = faults(schema, document).toString();
    assertTrue(faults.contains("$: required property 'remarks' not found"), faults);
    assertTrue(faults.contains("$: property 'odd' is not defined in the schema"), faults);
    assertTrue(faults.contains("$.planes[0].key: integer found, string expected"), faults);
    assertTrue(faults.contains("$.planes[0]: required property 'address' not found"), faults);
  }

  @Test
  void helpListsTheCommandsAndTheNamesOfEach() {
    String list = print(List.of("help", "json"));
    for (String each : DOCUMENTS.keySet()) {
      assertTrue(list.contains("  " + each.replaceAll(" --.*", "") + "\n"), list);
    }
    String planes = print(List.of("help", "json", "planes"));
    assertTrue(planes.matches("(?s).*\n  planes\\[]\\.mtu_bytes +integer +\\S.*"), planes);
    assertTrue(planes.contains("\nheddle planes --peer\n"), planes);
    String show = print(List.of("help", "json", "bgp", "show", "routes"));
    assertTrue(show.startsWith("heddle bgp show routes\n"), show);
    assertTrue(print(List.of("help", "bgp", "run")).startsWith("Usage: heddle bgp run"));
  }

  private static String print(List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = HeddleCommand.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.execute(arguments.toArray(String[]::new));
    assertEquals("", err.toString());
    return out.toString();
  }
}
