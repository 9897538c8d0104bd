package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Posting and polling from Java beside the same from C, on the stand-in, in turns: while one
 * process measures, the others wait for their line. With {@code -Dheddle.record=FOLDER} more rounds
 * are run and written there.
 */
@Timeout(300)
final class VerbsCostTest {
  private static final List<String> CASES =
      List.of("empty_poll", "single_post", "list_post", "full_poll", "post_and_poll");

  /** Java compiles while these run. */
  private static final int WARM_UP_ROUNDS = 12;

  private static final int ROUNDS = 7;
  private static final int RECORDED_ROUNDS = 31;

  /**
   * Times C in the fastest rounds, by either compiler as the plugin sets them. The aims are 1.5 for
   * posting and 2 for polling what is there; beyond these limits it isn't the machine's noise, but
   * an allocation, a lock or a slow path.
   */
  private static final Map<String, Double> LIMITS =
      Map.of("single_post", 2.0, "list_post", 2.0, "full_poll", 2.5, "post_and_poll", 2.0);

  @TempDir private Path folder;

  /** A process that measures a round for each line that it is sent. */
  private static final class Contestant implements AutoCloseable {
    private final String name;
    private final Process process;
    private final BufferedReader answers;
    private final Map<String, List<Double>> nanoseconds = new LinkedHashMap<>();

    Contestant(String name, Path fabric, List<String> command) throws IOException {
      this.name = name;
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      Map<String, String> environment = builder.environment();
      environment.put("LD_LIBRARY_PATH", BuiltParts.standin().getParent().toString());
      environment.put("STANDIN_FABRIC", fabric.toString());
      process = builder.start();
      answers = process.inputReader(StandardCharsets.UTF_8);
      CASES.forEach(each -> nanoseconds.put(each, new ArrayList<>()));
    }

    void round(boolean counts) throws IOException {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
      for (String line = answers.readLine(); ; line = answers.readLine()) {
        if (line == null) {
          throw new AssertionError(name + " ended in a round; see what it said above");
        }
        if (line.equals("end")) {
          return;
        }
        String[] words = line.split(" ");
        if (counts) {
          nanoseconds.get(words[0]).add(Double.parseDouble(words[1]));
        }
      }
    }

    double median(String each) {
      return quantile(nanoseconds.get(each), 0.5);
    }

    @Override
    public void close() throws IOException, InterruptedException {
      process.getOutputStream().close();
      assertEquals(0, process.waitFor(), name);
    }
  }

  private static double quantile(List<Double> values, double share) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get((int) Math.round(share * (sorted.size() - 1)));
  }

  /** Round by round, since what slows the machine for a while slows both. */
  private static double medianRatio(Contestant java, Contestant c, String each) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < java.nanoseconds.get(each).size(); i++) {
      ratios.add(java.nanoseconds.get(each).get(i) / c.nanoseconds.get(each).get(i));
    }
    return quantile(ratios, 0.5);
  }

  private static double leastRatio(Contestant java, Contestant c, String each) {
    return quantile(java.nanoseconds.get(each), 0) / quantile(c.nanoseconds.get(each), 0);
  }

  private static List<String> java(String... options) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Xmx64m", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+UseSystemMemoryBarrier"));
    command.addAll(List.of(options));
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), VerbsCost.class.getName()));
    return command;
  }

  @Test
  void postingAndPollingFromJavaIsNearC() throws IOException, InterruptedException {
    String record = System.getProperty("heddle.record");
    int rounds = record == null ? ROUNDS : RECORDED_ROUNDS;
    try (Contestant c = new Contestant("C", folder.resolve("c"), List.of(BuiltParts.cost()));
        Contestant java = new Contestant("Java", folder.resolve("java"), java());
        Contestant quick =
            new Contestant(
                "Java, quick compiler",
                folder.resolve("quick"),
                java(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:CompileCommand=quiet",
                    "-XX:CompileCommand=inline,jdk.internal.foreign.abi.SharedUtils::checkNative",
                    "-XX:CompileCommand=inline,jdk.internal.foreign.AbstractMemorySegmentImpl::equals",
                    "-XX:CompileCommand=inline,jdk.internal.misc.Unsafe::convEndian"))) {
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        c.round(round >= 0);
        java.round(round >= 0);
        quick.round(round >= 0);
      }
      String table = table(c, List.of(java, quick), rounds);
      System.out.print(table);
      if (record != null) {
        Files.writeString(Path.of(record).resolve("verbs-cost-" + LocalDate.now() + ".txt"), table);
      }
      for (Contestant contestant : List.of(java, quick)) {
        LIMITS.forEach((each, most) -> assertTrue(leastRatio(contestant, c, each) < most, table));
      }
    }
  }

  private static String table(Contestant c, List<Contestant> others, int rounds) {
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                """
                # ns per call on the stand-in for libibverbs, %d processors
                # median of %d rounds in turns (least to upper quartile)
                # x C: the median of the rounds' ratios; of the fastest rounds, which nothing disturbed
                # empty_poll: nothing is there; full_poll: per completion, 16 a call
                # single_post, list_post: per request of 8 B, 1 or 16 a call; post_and_poll: both for one
                """,
                Runtime.getRuntime().availableProcessors(),
                rounds));
    text.append(String.format(Locale.ROOT, "%-14s | %-28s", "", "C"));
    others.forEach(other -> text.append(String.format(Locale.ROOT, " | %-40s", other.name)));
    for (String each : CASES) {
      text.append(String.format(Locale.ROOT, "%n%-14s | %s", each, cell(c, each)));
      for (Contestant other : others) {
        text.append(
            String.format(
                Locale.ROOT,
                " | %s %5.2f %5.2f",
                cell(other, each),
                medianRatio(other, c, each),
                leastRatio(other, c, each)));
      }
    }
    return text.append(System.lineSeparator()).toString();
  }

  private static String cell(Contestant contestant, String each) {
    List<Double> values = contestant.nanoseconds.get(each);
    return String.format(
        Locale.ROOT,
        "%7.1f (%6.1f to %7.1f)",
        contestant.median(each),
        quantile(values, 0),
        quantile(values, 0.75));
  }
}
