package io.heddle.tools.demo;

import io.heddle.tools.job.AllReduceResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * JSON document of {@code heddle demo}.
 *
 * @param network isolation of the hosts
 * @param networkReason reason for this kind of isolation
 * @param ranks number of ranks
 * @param planeCount number of planes of each host
 * @param weights requested weights
 * @param policy spray policy
 * @param plugin name of the plugin
 * @param planes requested and actual share of each plane
 * @param wrong number of wrong elements over all ranks and sizes
 * @param passed whether all data was correct and all ranks ended cleanly
 * @param failure reason of a failure; null if passed
 */
record DemoReport(
    String network,
    String networkReason,
    int ranks,
    int planeCount,
    List<Integer> weights,
    String policy,
    @Nullable String plugin,
    List<AllReduceResult> results,
    List<PlaneShare> planes,
    long wrong,
    boolean passed,
    @Nullable String failure) {}
