package io.heddle.cli.demo;

import io.heddle.cli.job.AllReduceResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code heddle demo --json} prints.
 *
 * @param network how hosts were kept apart, and why so
 * @param networkReason why so
 * @param ranks processes
 * @param planeCount planes of each host
 * @param weights that were asked for
 * @param policy who chose planes
 * @param plugin the name it gives itself
 * @param planes what each plane was asked to carry and carried
 * @param wrong wrong elements over all ranks and sizes
 * @param passed whether every byte was right and every rank ended well
 * @param failure why not, null where it passed
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
