package io.heddle.systemtests;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Records the plugin's all-reduce over one, four and eight devices of the stand-in and over one
 * device with four addresses, in turns: as fast as this machine copies, and with a rate for each
 * device that it can keep up with. Usage: {@code StandinRecord FOLDER}.
 */
public final class StandinRecord {
  private static final int ROUNDS = 3;
  private static final long LIMIT_SECONDS = 120;
  private static final String RATE_GBPS = "2";

  /** What is compared. */
  private record Setup(String name, int devices, int addresses, Map<String, String> settings) {}

  private static final List<Setup> SETUPS =
      List.of(
          new Setup("1 device", 1, 1, Map.of()),
          new Setup("4 devices", 4, 1, Map.of()),
          new Setup("8 devices", 8, 1, Map.of()),
          new Setup("1 dev. x 4 addr.", 1, 4, Map.of()),
          new Setup("1 device, rate", 1, 1, Map.of("STANDIN_RATE_GBPS", RATE_GBPS)),
          new Setup("4 devices, rate", 4, 1, Map.of("STANDIN_RATE_GBPS", RATE_GBPS)),
          new Setup("8 devices, rate", 8, 1, Map.of("STANDIN_RATE_GBPS", RATE_GBPS)));

  private StandinRecord() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    /* Microseconds by setup and size, one for each round. */
    List<TreeMap<Long, List<Double>>> times = new ArrayList<>();
    SETUPS.forEach(setup -> times.add(new TreeMap<>()));
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < SETUPS.size(); i++) {
        run(SETUPS.get(i), times.get(i));
        System.err.printf("round %d: %s%n", round + 1, SETUPS.get(i).name());
      }
    }
    String table = table(times);
    System.out.print(table);
    String name = "standin-allreduce-" + LocalDate.now() + ".txt";
    Files.writeString(Path.of(arguments[0]).resolve(name), table);
  }

  private static void run(Setup setup, Map<Long, List<Double>> times)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("standin-record");
    try (StandinHosts hosts =
            StandinHosts.create(setup.devices(), setup.addresses(), folder, setup.settings());
        HostProcess first = start(hosts, 0, setup.devices(), folder);
        HostProcess second = start(hosts, 1, setup.devices(), folder)) {
      if (first.exitCode(LIMIT_SECONDS) != 0 || second.exitCode(LIMIT_SECONDS) != 0) {
        throw new IllegalStateException(setup.name() + ":\n" + first.output() + second.output());
      }
      for (String line : first.output().lines().filter(each -> each.startsWith("{")).toList()) {
        JsonNode event = new ObjectMapper().readTree(line);
        if (event.path("event").asText().equals("size")) {
          times
              .computeIfAbsent(event.path("bytes").asLong(), bytes -> new ArrayList<>())
              .add(event.path("time_us").asDouble());
        }
      }
    }
  }

  private static HostProcess start(StandinHosts hosts, int rank, int devices, Path folder)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(BuiltParts.allReduce().toString()));
    command.addAll(List.of("--plugin", BuiltParts.plugin().toString()));
    command.addAll(List.of("--rendezvous", folder.toString()));
    command.addAll(List.of("--rank", Integer.toString(rank), "--quiet"));
    command.addAll(List.of("--devices", Integer.toString(devices), "--iterations", "10"));
    command.addAll(List.of("--min-bytes", "1024", "--max-bytes", "16777216"));
    return hosts.start(rank, folder.resolve(rank + ".log"), Map.of(), command);
  }

  private static String table(List<TreeMap<Long, List<Double>>> times) {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                """
                # all-reduce of two ranks on the stand-in for libibverbs, %d processors
                # us, median of %d rounds in turns; rate: %s Gbit/s for each device, both ways
                """,
                Runtime.getRuntime().availableProcessors(),
                ROUNDS,
                RATE_GBPS));
    text.append(String.format(Locale.ROOT, "# %10s", "bytes"));
    SETUPS.forEach(setup -> text.append(String.format(Locale.ROOT, " | %16s", setup.name())));
    for (long bytes : times.getFirst().keySet()) {
      text.append(String.format(Locale.ROOT, "%n%12d", bytes));
      for (TreeMap<Long, List<Double>> setup : times) {
        List<Double> rounds = setup.get(bytes).stream().sorted().toList();
        text.append(String.format(Locale.ROOT, " | %16.1f", rounds.get(rounds.size() / 2)));
      }
    }
    return text.append(System.lineSeparator()).toString();
  }
}
