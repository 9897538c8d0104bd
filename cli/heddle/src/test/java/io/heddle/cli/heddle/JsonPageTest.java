package io.heddle.cli.heddle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import io.heddle.platform.testing.Checkout;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * docs/json.md, made from the records that are printed and from their comments: a name can't change
 * without the page.
 */
final class JsonPageTest {
  private static final Path PAGE = Checkout.path("docs/json.md");
  private static final Path MADE = Path.of("target", "json.md");

  private static final String INTRODUCTION =
      """
      # What the commands print as JSON

      One document on standard output, whose names and units don't change within a release of the
      same first number; names may be added. What is not known is null. Errors are sentences on
      standard error, with exit code 1 or 2, and then there is no document.

      This page is made from the code.
      """;

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
    DOCUMENTS.put("heddle perf plugin", "PluginPerfReport");
    DOCUMENTS.put("heddle perf allreduce", "AllReduceReport");
    DOCUMENTS.put("heddle perf among-threads", "AmongThreadsReport");
    DOCUMENTS.put("heddle perf standin", "AllReduceReport");
    DOCUMENTS.put("heddle perf calls", "CallCostReport");
    DOCUMENTS.put("heddle perf verbs", "VerbsCostReport");
    DOCUMENTS.put("heddle perf start", "StartReport");
    DOCUMENTS.put("heddle perf scale", "ScaleReport");
    DOCUMENTS.put("heddle perf policies", "PolicyReport");
    DOCUMENTS.put("heddle perf one-sided", "OneSidedReport");
    DOCUMENTS.put("heddle perf one-sided-check", "PerfOneSidedCheckCommand$Document");
    DOCUMENTS.put("heddle perf packet", "PacketReport");
    DOCUMENTS.put("heddle perf switching", "SwitchingReport");
    DOCUMENTS.put("heddle perf flood", "FloodReport");
    DOCUMENTS.put("heddle perf bgp", "BgpFeedReport");
    DOCUMENTS.put("heddle perf failover", "FailoverReport");
  }

  private static final Pattern RECORD =
      Pattern.compile(
          "(?s)/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:public |private |final )*record (\\w+)\\(");

  /** Of each class in the modules' sources, by its full name. */
  private static final Map<String, Path> SOURCES = new TreeMap<>();

  /** Of each record, by its full name, what its comment says of its components. */
  private static final Map<String, Map<String, String>> COMMENTS = new TreeMap<>();

  @BeforeAll
  static void findSources() throws IOException {
    try (Stream<Path> modules = Files.walk(Checkout.ROOT, 2)) {
      for (Path module : modules.toList()) {
        Path sources = module.resolve(Path.of("src", "main", "java"));
        if (Files.isDirectory(sources)) {
          findSources(sources);
        }
      }
    }
  }

  private static void findSources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String path = folder.relativize(file).toString();
        SOURCES.put(path.replace(".java", "").replace('/', '.'), file);
      }
    }
  }

  private static Map<String, String> commentsOf(Class<?> record) throws IOException {
    if (!COMMENTS.containsKey(record.getName())) {
      String outer = record.getName().replaceAll("\\$.*", "");
      Matcher found = RECORD.matcher(Files.readString(SOURCES.get(outer)));
      while (found.find()) {
        boolean inner = !outer.endsWith("." + found.group(2));
        COMMENTS.put(inner ? outer + "$" + found.group(2) : outer, parameters(found.group(1)));
      }
    }
    return COMMENTS.getOrDefault(record.getName(), Map.of());
  }

  private static Map<String, String> parameters(String comment) {
    Map<String, String> parameters = new TreeMap<>();
    String flat = comment.replaceAll("\\s*\\n\\s*\\* ?", " ").strip();
    Matcher each = Pattern.compile("@param (\\w+) (.*?)(?= @param | @return |$)").matcher(flat);
    while (each.find()) {
      String text = each.group(2).replaceAll("\\{@code ([^}]*)}", "`$1`").strip();
      text =
          text.replaceAll("\\{@link \\S+ ([^}]*)}", "$1").replaceAll("\\{@link #?([^}]*)}", "$1");
      parameters.put(each.group(1), text.replaceAll("\\s+", " "));
    }
    return parameters;
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    String outer = name.replaceAll("\\$.*", "");
    List<String> found =
        SOURCES.keySet().stream().filter(each -> each.endsWith("." + outer)).toList();
    assertEquals(1, found.size(), "classes called " + outer + ": " + found);
    return Class.forName(found.getFirst() + name.substring(outer.length()));
  }

  @Test
  void everyCommandThatPrintsJsonIsHere() {
    Set<String> printing = new TreeSet<>();
    collect(HeddleCommand.commandLine(), printing);
    Set<String> told = new TreeSet<>();
    DOCUMENTS.keySet().forEach(each -> told.add(each.replaceAll(" --.*", "")));
    assertEquals(printing, told);
  }

  private static void collect(CommandLine line, Set<String> printing) {
    if (line.getCommandSpec().findOption("--json") != null) {
      printing.add(line.getCommandSpec().qualifiedName());
    }
    line.getSubcommands().values().forEach(each -> collect(each, printing));
  }

  @Test
  void thePageNamesWhatIsPrinted() throws Exception {
    StringBuilder page = new StringBuilder(INTRODUCTION);
    for (Map.Entry<String, String> each : DOCUMENTS.entrySet()) {
      List<String> rows = new ArrayList<>();
      describe("", type(each.getValue()), rows);
      page.append("\n## ")
          .append(each.getKey())
          .append("\n\n| name | is | meaning |\n|---|---|---|\n");
      rows.forEach(row -> page.append(row).append('\n'));
    }
    Files.writeString(MADE, page);
    String existing = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertEquals(
        page.toString(), existing, "to renew the page: cp cli/heddle/target/json.md docs/");
  }

  private static void describe(String prefix, Class<?> record, List<String> rows)
      throws IOException {
    Map<String, String> comments = commentsOf(record);
    for (RecordComponent each : record.getRecordComponents()) {
      String path = prefix + SnakeCaseStrategy.INSTANCE.translate(each.getName());
      Type type = each.getGenericType();
      boolean list = false;
      while (type instanceof ParameterizedType of && of.getRawType() == List.class) {
        path += "[]";
        type = of.getActualTypeArguments()[0];
        list = true;
      }
      String meaning = comments.getOrDefault(each.getName(), "");
      if (type instanceof Class<?> inner && inner.isRecord()) {
        if (!meaning.isEmpty()) {
          rows.add("| `%s` | object | %s |".formatted(path, meaning));
        }
        describe(path + ".", inner, rows);
      } else {
        boolean maybe = !list && each.getAnnotatedType().isAnnotationPresent(Nullable.class);
        rows.add(
            "| `%s` | %s%s | %s |".formatted(path, word(type), maybe ? " or null" : "", meaning));
      }
    }
  }

  private static String word(Type type) {
    if (type instanceof ParameterizedType map) {
      return "object of " + word(map.getActualTypeArguments()[1]) + "s by name";
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isEnum()) {
      List<String> names = new ArrayList<>();
      for (Object each : plain.getEnumConstants()) {
        names.add("`" + ((Enum<?>) each).name() + "`");
      }
      return String.join(", ", names);
    }
    return switch (plain.getSimpleName()) {
      case "String" -> "text";
      case "boolean", "Boolean" -> "true or false";
      case "double", "Double" -> "number";
      case "int", "Integer", "long", "Long" -> "whole number";
      default -> throw new AssertionError(plain + " isn't told of by docs/json.md");
    };
  }

  @Test
  void everyNameIsExplained() throws Exception {
    Set<String> silent = new TreeSet<>();
    for (String each : DOCUMENTS.values()) {
      List<String> rows = new ArrayList<>();
      describe("", type(each), rows);
      rows.stream().filter(row -> row.endsWith("|  |")).forEach(row -> silent.add(each + row));
    }
    assertEquals(Set.of(), silent);
  }
}
