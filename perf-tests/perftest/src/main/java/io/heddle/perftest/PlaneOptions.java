package io.heddle.perftest;

import io.heddle.spray.SprayPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for planes; perftest itself has none of these options. */
final class PlaneOptions {
  private static final List<String> POLICIES = SprayPolicy.NAMES;

  @Option(
      names = "--planes",
      paramLabel = "all|COUNT|KEY,...",
      description =
          "Use planes of this host: all, a number, or a list of keys. Each has a queue"
              + " pair, or as many as -q; a stock perftest at the other end needs -q with all"
              + " of them.")
  private @Nullable String planes;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      description =
          "Cut each message of write_bw or read_bw and lay it over the planes as the plugin does:"
              + " spray, pinned or hash. Without it, whole messages go over the queue pairs in"
              + " turn.")
  private @Nullable String policy;

  @Option(
      names = "--weights",
      paramLabel = "4,2,1,1|KEY=4,...",
      description = "Weights of the planes; with --policy (spray).")
  private @Nullable String weights;

  Settings.PlaneChoice choice(TestKind kind, CommonOptions common) {
    if (planes == null && policy == null && weights == null) {
      return Settings.PlaneChoice.NONE;
    }
    if ((policy != null || weights != null) && (kind.isSend() || kind.isLatency())) {
      throw common.wrong(
          "--policy and --weights are for write_bw and read_bw: the other end of "
              + kind.commandName()
              + " counts messages");
    }
    if (policy != null && !POLICIES.contains(policy)) {
      throw common.wrong(
          "--policy " + policy + " is unknown; the policies are " + String.join(", ", POLICIES));
    }
    int most = Integer.MAX_VALUE;
    List<String> keys = List.of();
    if (planes != null && planes.matches("[0-9]{1,6}")) {
      most = Integer.parseInt(planes);
      common.requireRange("--planes", most, 1, 250);
    } else if (planes != null && !planes.equals("all")) {
      keys = List.of(planes.split(",", -1));
    }
    return new Settings.PlaneChoice(
        true, most, keys, weights, policy == null && weights != null ? "spray" : policy);
  }
}
