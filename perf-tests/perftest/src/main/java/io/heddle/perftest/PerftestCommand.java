package io.heddle.perftest;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.VerbsProvider;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Common part of the commands of perftest's five tests. The exit code is 0, 1 for a failed test, or
 * 2 for a usage error.
 */
public abstract class PerftestCommand implements Callable<Integer> {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "HOST",
      description = "The server; without it this end is the server.")
  private @Nullable String host;

  @Mixin private final CommonOptions common = new CommonOptions();

  private final TestKind kind;

  PerftestCommand(TestKind kind) {
    this.kind = kind;
  }

  @Nullable String host() {
    return host;
  }

  TestKind kind() {
    return kind;
  }

  CommonOptions common() {
    return common;
  }

  /** Returns the checked options. */
  abstract Settings settings();

  /* Returns a log that prints warnings only: a provider's other lines don't belong in a report. */
  private static Log warningsTo(PrintWriter err) {
    return (level, sentence) -> {
      if (level == Log.Level.WARN) {
        err.println("heddle: " + sentence);
        err.flush();
      }
    };
  }

  @Override
  public Integer call() {
    Settings settings = settings();
    List<VerbsProvider> providers = new ArrayList<>();
    ServiceLoader.load(VerbsProvider.class).forEach(providers::add);
    TestDevice.Source source =
        new TestDevice.Source(
            providers, System.getenv(), warningsTo(common.line().getErr()), new LeakLedger());
    new Session(settings, source, common.line().getOut()).run();
    return 0;
  }
}
