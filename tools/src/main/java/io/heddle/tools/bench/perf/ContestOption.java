package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Options of every contest: the form of its results, and where they are saved. */
final class ContestOption {
  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  /** Measurement that fills a contest. */
  interface Measuring {
    void measure(Contest contest) throws IOException, InterruptedException;
  }

  CommandLine line() {
    return Objects.requireNonNull(spec).commandLine();
  }

  OptionRange range() {
    return new OptionRange(spec);
  }

  boolean isJson() {
    return form.isJson();
  }

  /**
   * Measures in a lab and publishes the results.
   *
   * @param file name of the saved files, without date and ending
   * @return exit code
   */
  int run(HostsOption hosts, Labs.Choice choice, String file, Contest contest, Measuring measuring)
      throws IOException, InterruptedException {
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, line());
    }
    contest.set("network", choice.kind().text());
    return run(file, contest, measuring);
  }

  /** Measures without a lab, or with one of the command's own, and publishes the results. */
  int run(String file, Contest contest, Measuring measuring)
      throws IOException, InterruptedException {
    measuring.measure(contest);
    contest.clear();
    form.publish(spec, file + "-" + ReportOption.today(), contest.table(), contest.results());
    return 0;
  }
}
