package io.heddle.perftest;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What perftest doesn't have. */
final class PlaneOptions {
  @Option(
      names = "--planes",
      paramLabel = "all|COUNT|KEY,...",
      description =
          "Use the planes of this host: all, so many, or those with these keys. -q counts queue"
              + " pairs per plane; a stock perftest at the other end needs -q with their product.")
  private @Nullable String planes;

  Settings.PlaneChoice choice(CommonOptions common) {
    if (planes == null) {
      return Settings.PlaneChoice.NONE;
    }
    int most = Integer.MAX_VALUE;
    List<String> keys = List.of();
    if (planes.matches("[0-9]{1,6}")) {
      most = Integer.parseInt(planes);
      common.requireRange("--planes", most, 1, 250);
    } else if (!planes.equals("all")) {
      keys = List.of(planes.split(",", -1));
    }
    return new Settings.PlaneChoice(true, most, keys, null, null);
  }
}
