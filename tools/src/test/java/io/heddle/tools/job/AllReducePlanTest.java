package io.heddle.tools.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.OptionRange;
import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Test of {@link AllReducePlan}: sizes, the driver's command line, and results. */
class AllReducePlanTest {
  @CommandLine.Command
  private static final class Sizes {
    @CommandLine.Mixin private SizesOption sizes = new SizesOption();
  }

  private final Sizes command = new Sizes();
  private final CommandLine line = new CommandLine(command);

  private AllReducePlan.Sizes sizes(String options) {
    line.parseArgs(options.isEmpty() ? new String[0] : options.split(" "));
    command.sizes.require(new OptionRange(line.getCommandSpec()));
    return command.sizes.within(10);
  }

  @ParameterizedTest
  @CsvSource({
    "--min-bytes 2,                    --min-bytes 2 is not in 4 to 2147483648",
    "--min-bytes 10,                   '--min-bytes 10 is not a multiple of 4, the size of a"
        + " float'",
    "--min-bytes 1K --max-bytes 512,   --max-bytes 512 is not in 1024 to 2147483648",
    "--max-bytes 3G,                   --max-bytes 3221225472 is not in 8 to 2147483648",
    "--iterations 0,                   --iterations 0 is not in 1 to 1000000"
  })
  void invalidSizesAreRejected(String options, String sentence) {
    assertEquals(
        sentence, assertThrows(ParameterException.class, () -> sizes(options)).getMessage());
  }

  @Test
  void givenOptionsOverrideTheDefaults() {
    CommandLine.ParseResult given = line.parseArgs("--iterations", "7");
    command.sizes.setDefaults(given, 1 << 20, 5);
    assertEquals(new AllReducePlan.Sizes(8, 1 << 20, 7, 10), command.sizes.within(10));
    given = line.parseArgs("--max-bytes", "2M");
    command.sizes.setDefaults(given, 1 << 20, 5);
    assertEquals(new AllReducePlan.Sizes(8, 2 << 20, 5, 10), command.sizes.within(10));
    given = line.parseArgs("--min-bytes", "4M");
    command.sizes.setDefaults(given, 1 << 20, 5);
    assertEquals(4 << 20, command.sizes.within(10).maxBytes(), "no range without a size");
  }

  @ParameterizedTest
  @CsvSource({"8, 8, 1", "8, 15, 1", "8, 16, 2", "8, 67108864, 24", "1073741824, 2147483648, 2"})
  void sizesDoubleUpToTheLast(long least, long most, int count) {
    assertEquals(count, new AllReducePlan.Sizes(least, most, 1, 10).count());
  }

  private static List<String> command(AllReducePlan.@Nullable Watched watched) {
    return new AllReducePlan(
            Path.of("driver"),
            Path.of("plugin.so"),
            Path.of("/run"),
            new AllReducePlan.Sizes(8, 64, 5, 30),
            2,
            Map.of(),
            watched)
        .command(1, 3);
  }

  @Test
  void commandLineHasRankAndSizes() {
    assertEquals(
        "driver --plugin plugin.so --rank 1 --ranks 3 --rendezvous /run --min-bytes 8 --max-bytes"
            + " 64 --iterations 5 --devices 2 --timeout-seconds 30",
        String.join(" ", command(null)));
  }

  @Test
  void watchedRunHasAnEndFileAndItsRecords() {
    assertEquals(List.of("--until", "/run/over"), added(AllReducePlan.Records.NOTHING));
    List<String> completions =
        List.of("--until", "/run/over", "--completions", "/run/rank-1.completions");
    assertEquals(completions, added(AllReducePlan.Records.COMPLETIONS));
    List<String> traces = new ArrayList<>(completions);
    traces.add("--trace");
    assertEquals(traces, added(AllReducePlan.Records.COMPLETIONS_AND_TRACES));
  }

  private static List<String> added(AllReducePlan.Records kept) {
    List<String> watched = command(new AllReducePlan.Watched(Path.of("/run/over"), kept));
    return watched.subList(command(null).size(), watched.size());
  }

  @Test
  void endIsIdempotent(@TempDir Path folder) {
    Path until = folder.resolve("over");
    AllReducePlan.Watched watched = new AllReducePlan.Watched(until, AllReducePlan.Records.NOTHING);
    watched.end();
    watched.end();
    assertTrue(Files.exists(until));
    assertThrows(
        HeddleException.class,
        new AllReducePlan.Watched(until.resolve("none"), AllReducePlan.Records.NOTHING)::end);
  }

  @Test
  void timeIsOfTheSlowestRankAndBusbwFollowsFromRanks() {
    AllReduceResult result =
        AllReduceResult.of(
            List.of(
                new AllReduceEvent.Size(4_000_000, 1_000_000, 5, 1_000, 1),
                new AllReduceEvent.Size(4_000_000, 1_000_000, 5, 2_000, 0),
                new AllReduceEvent.Size(4_000_000, 1_000_000, 5, 500, 2)));
    assertEquals(2_000, result.timeUs());
    assertEquals(2, result.algbwGigabytesPerSecond(), 1e-9);
    assertEquals(2 * 4 / 3.0, result.busbwGigabytesPerSecond(), 1e-9);
    assertEquals(3, result.wrong());
  }

  @Test
  void zeroTimeIsNotInfiniteBandwidth() {
    AllReduceResult result = AllReduceResult.of(List.of(new AllReduceEvent.Size(8, 2, 1, 0, 0)));
    assertEquals(0, result.algbwGigabytesPerSecond());
    assertEquals(0, result.busbwGigabytesPerSecond());
  }
}
