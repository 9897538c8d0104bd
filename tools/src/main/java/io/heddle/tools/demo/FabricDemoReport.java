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
 * @param hashOverSpray time of the largest all-reduce under policy hash ÷ time under policy spray
 * @param change reaction to the change of a path bandwidth; null if the demo failed before it
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
   * @param deviationPoints largest difference between a plane's requested and sent share, in
   *     percentage points
   */
  record Job(
      String policy,
      List<AllReduceResult> results,
      List<SpineShare> spines,
      double deviationPoints) {}

  /**
   * Shares of one plane, which is one spine.
   *
   * @param plane number of the plane, from 1
   * @param rateGbps rate to which the spine's links are shaped, Gbit/s
   * @param announcedGbps path bandwidth announced in BGP, Gbit/s
   * @param expectedShare share that the announced path bandwidth requests
   * @param sentShare share of the message bytes, by the plugin's counters; null if there are none
   * @param spineBytes number of bytes that the kernel counted at the spine, including headers and
   *     acknowledgements
   * @param spineShare share of this spine in the bytes at all spines
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
   * Change of a path bandwidth during the run, with the shares in the seconds before and after.
   *
   * @param plane number of the plane, from 1
   * @param announcedBeforeGbps path bandwidth before the change, Gbit/s
   * @param announcedAfterGbps path bandwidth after the change, Gbit/s
   * @param weightsAfterMs time from the start of the command that changes link and announcement
   *     until all ranks had the new weights, ms
   * @param followedAfterMs time from the start of that command to the first 200 ms window whose
   *     shares were within 3 percentage points of the new weights, ms; null if there was none.
   *     Windows start once all ranks had the weights.
   */
  record Change(
      int plane,
      int announcedBeforeGbps,
      int announcedAfterGbps,
      long weightsAfterMs,
      @Nullable Double followedAfterMs,
      List<Window> windows) {
    /**
     * Returns the largest deviation of a plane's sent share from its expected share, in percentage
     * points. The one-second window that follows the change of path bandwidth isn't included.
     */
    double steadyDeviationPoints() {
      return windows.stream()
          .filter(window -> window.fromSeconds() != 0)
          .mapToDouble(Window::deviationPoints)
          .max()
          .orElse(0);
    }
  }

  /**
   * Shares in one second of the run.
   *
   * @param fromSeconds start of the second, relative to the change; negative before it
   * @param expectedShares shares requested by the path bandwidths in force
   * @param sentShares sent shares, by the plugin's counters
   * @param deviationPoints largest difference between a requested and a sent share, in percentage
   *     points
   */
  record Window(
      double fromSeconds,
      List<Double> expectedShares,
      List<Double> sentShares,
      double deviationPoints) {}
}
