package io.heddle.cli.demo;

import io.heddle.cli.job.AllReduceResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code heddle demo --fabric --json} prints.
 *
 * @param weightSource where the weights come from
 * @param ranks processes
 * @param jobs the same job under each policy
 * @param hashOverSpray time of the largest all-reduce under hash by that under spray
 * @param change what the share did when a path bandwidth changed; null where the run didn't get so
 *     far
 * @param wrong wrong elements
 * @param passed whether every byte was right and every rank ended well
 * @param failure why not, null where it passed
 */
record FabricDemoReport(
    String weightSource,
    int ranks,
    List<Job> jobs,
    @Nullable Double hashOverSpray,
    @Nullable Change change,
    long wrong,
    boolean passed,
    @Nullable String failure) {

  /**
   * One all-reduce of all sizes.
   *
   * @param policy who chose planes
   * @param deviationPoints the largest difference between a plane's asked and sent share,
   *     percentage points
   */
  record Job(
      String policy,
      List<AllReduceResult> results,
      List<SpineShare> spines,
      double deviationPoints) {}

  /**
   * One plane.
   *
   * @param plane from 1
   * @param rateGbps that its links are shaped to
   * @param announcedGbps path bandwidth in BGP
   * @param askedShare what follows from it
   * @param sentShare by the plugin's counters, null where it left none
   * @param spineBytes what the kernel counted at the spine, headers and acknowledgements included
   * @param spineShare of what it counted at all spines
   */
  record SpineShare(
      int plane,
      double rateGbps,
      int announcedGbps,
      double askedShare,
      @Nullable Double sentShare,
      long spineBytes,
      double spineShare) {}

  /**
   * A path bandwidth that changed in mid-run, and the whole seconds before and after.
   *
   * @param plane from 1
   * @param announcedBeforeGbps path bandwidth before
   * @param announcedAfterGbps path bandwidth after
   * @param weightsAfterMs from the beginning of the command that shapes the link and announces its
   *     bandwidth to the moment when all ranks had the new weights
   * @param followedAfterMs from the same to the first 200 ms, with the new weights in force, whose
   *     shares were within 3 percentage points of them; null where there were none
   */
  record Change(
      int plane,
      int announcedBeforeGbps,
      int announcedAfterGbps,
      long weightsAfterMs,
      @Nullable Double followedAfterMs,
      List<Window> windows) {
    /** The largest deviation of all whole seconds but the one in which the change was made. */
    double steadyDeviationPoints() {
      return windows.stream()
          .filter(window -> window.fromSeconds() != 0)
          .mapToDouble(Window::deviationPoints)
          .max()
          .orElse(0);
    }
  }

  /**
   * A second of the run.
   *
   * @param fromSeconds since the change; negative before it
   * @param askedShares by the weights in force at its end
   * @param sentShares by the plugin's counters
   * @param deviationPoints the largest difference between the two, percentage points
   */
  record Window(
      double fromSeconds,
      List<Double> askedShares,
      List<Double> sentShares,
      double deviationPoints) {}
}
