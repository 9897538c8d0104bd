package io.heddle.tools.bench.perf;

import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.job.AllReduceResult;
import java.io.IOException;
import java.util.List;

/**
 * Contestant that runs a job of all-reduces in each round. A step is the beginning of its labels,
 * which the size ends.
 */
record AllReduceContestant(String name, Job job) implements Contestant<String> {
  /** Job of all-reduces. */
  interface Job {
    List<AllReduceResult> run() throws IOException, InterruptedException;
  }

  @Override
  public void measure(String step, Round round) throws IOException, InterruptedException {
    for (AllReduceResult each : job.run()) {
      String label = step + Contest.size(each.bytes());
      round.add(label, "", "us", each.timeUs());
      round.add(label, ", bus bandwidth", "GB/s", each.busbwGigabytesPerSecond());
    }
  }
}
