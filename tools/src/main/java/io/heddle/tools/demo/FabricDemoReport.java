package io.heddle.tools.demo;

import io.heddle.tools.job.AllReduceResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * JSON document of {@code heddle demo --fabric}.
 *
 * @param weightSource source of the weights
 * @param ranks number of ranks
 * @param jobs results of the job under each policy
 * @param hashOverSpray time of the largest all-reduce under hash ÷ under spray
 * @param change reaction to the change of a path bandwidth; null if the run didn't get so far
 * @param wrong number of wrong elements
 * @param passed whether all data was correct and all ranks ended cleanly
 * @param failure reason of a failure; null if passed
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
   * Result of all sizes under one policy.
   *
   * @param policy spray policy
   * @param deviationPoints largest difference between a plane's requested and sent share,
   *     percentage points
   */
  record Job(
      String policy,
      List<AllReduceResult> results,
      List<SpineShare> spines,
      double deviationPoints) {}

  /**
   * Shares of one plane.
   *
   * @param plane number of the plane, from 1
   * @param rateGbps rate that its links are shaped to
   * @param announcedGbps path bandwidth in BGP
   * @param expectedShare requested share by that path bandwidth
   * @param sentShare sent share by the plugin's counters; null if there are none
   * @param spineBytes bytes counted by the kernel at the spine, headers and acknowledgements
   *     included
   * @param spineShare share of the bytes at all spines
   */
  record SpineShare(
      int plane,
      double rateGbps,
      int announcedGbps,
      double expectedShare,
      @Nullable Double sentShare,
      long spineBytes,
      double spineShare) {}

  /**
   * Change of a path bandwidth during the run, with the whole seconds before and after.
   *
   * @param plane number of the plane, from 1
   * @param announcedBeforeGbps path bandwidth before
   * @param announcedAfterGbps path bandwidth after
   * @param weightsAfterMs time from the start of the command that shapes the link and announces its
   *     bandwidth until all ranks had the new weights
   * @param followedAfterMs time from that start to the first 200 ms window, with the new weights in
   *     force, whose shares were within 3 percentage points of them; null if there was none
   */
  record Change(
      int plane,
      int announcedBeforeGbps,
      int announcedAfterGbps,
      long weightsAfterMs,
      @Nullable Double followedAfterMs,
      List<Window> windows) {
    /** Returns the largest deviation over all whole seconds except that of the change. */
    double steadyDeviationPoints() {
      return windows.stream()
          .filter(window -> window.fromSeconds() != 0)
          .mapToDouble(Window::deviationPoints)
          .max()
          .orElse(0);
    }
  }

  /**
   * One second of the run.
   *
   * @param fromSeconds start, since the change; negative before it
   * @param expectedShares requested shares, by the weights in force at its end
   * @param sentShares sent shares, by the plugin's counters
   * @param deviationPoints largest difference between both, percentage points
   */
  record Window(
      double fromSeconds,
      List<Double> expectedShares,
      List<Double> sentShares,
      double deviationPoints) {}
}
