package io.heddle.tools.wan.figure;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.session.RuleAnnouncer;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.Prefix;
import io.heddle.cli.kit.Cleanup;
import io.heddle.gateway.Gateway;
import io.heddle.gateway.GatewayStatus;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/**
 * Delay until rules that a controller announces by BGP are active, that is, in the kernel's map.
 * Gateway and BGP speaker are in this process, and their session is a TCP connection.
 */
public final class RuleFigures {
  private static final int RULES = 10_000;
  private static final int WARM_UP = 2_000;
  private static final int SINGLES = 40;
  private static final int LIMIT_SECONDS = 60;
  private static final int FIRST = 0x1000;
  private static final double MOST_ALL_MS = 2_000;
  private static final double MOST_ONE_MS = 20;
  private static final long POLL_NS = 200_000;

  /* Nanoseconds between polls of all rules. Polling them more often would slow the gateway down. */
  private static final long POLL_ALL_NS = 20_000_000;

  /*
   * Pause in ms after the warm-up's rules. A gateway applies 10,000 changes at once and then only
   * 1,000 a second; after the pause it can apply 10,000 again.
   */
  private static final int REST_AFTER_WARM_UP_MS = WARM_UP + 500;

  private static final int REST_MS = 500;

  private final IntFunction<BooleanSupplier> limits;
  private final Gateway gateway;
  private final BgpSpeaker speaker;
  private final RuleAnnouncer announcer;
  private final PeerSession session;

  private RuleFigures(Path folder, IntFunction<BooleanSupplier> limits, Cleanup cleanup)
      throws IOException {
    this.limits = limits;
    FlowspecCodec codec = new FlowspecCodec(ComponentTypes.DEFAULT);
    announcer = new RuleAnnouncer(codec, new SteeringAttributes(IndirectionEncoding.DEFAULT));
    LoneGateway lone = cleanup.add(new LoneGateway(folder));
    gateway = lone.gateway();
    speaker = cleanup.add(lone.call(() -> new BgpSpeaker((level, sentence) -> {})));
    session = lone.call(() -> lone.listen(speaker, codec, announcer));
  }

  /**
   * Measures the delay of ten thousand rules announced at once, then of single rules.
   *
   * @param folder folder for files
   * @param limits starts a time limit of this many seconds; the returned supplier reports whether
   *     it has expired
   * @throws HeddleException if rules don't become active
   */
  public static List<WanFigure> measure(Path folder, IntFunction<BooleanSupplier> limits)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RuleFigures figures = new RuleFigures(folder, limits, cleanup);
      figures.await(
          "the session",
          POLL_ALL_NS,
          () -> figures.speaker.callOnLoop(figures.session::state) == SessionState.ESTABLISHED);
      figures.announceAll(WARM_UP);
      figures.withdrawAll(WARM_UP);
      TimeUnit.MILLISECONDS.sleep(REST_AFTER_WARM_UP_MS);
      return List.of(figures.atAStroke(), figures.oneByOne());
    }
  }

  private static FlowRule rule(int queuePair) {
    return FlowRule.queuePair(
        ComponentTypes.DEFAULT,
        Prefix.of(LoneGateway.SOURCE),
        Prefix.of(LoneGateway.DESTINATION),
        queuePair);
  }

  private void announce(int from, int count) {
    speaker.execute(() -> {
      for (int queuePair = from; queuePair < from + count; queuePair++) {
        announcer.announce(rule(queuePair), new RuleAnnouncer.Target(2, LoneGateway.ROUTER_ID));
      }
    });
  }

  private void announceAll(int count) {
    announce(FIRST, count);
    await(
        String.format(Locale.ROOT, "all of %,d rules", count),
        POLL_ALL_NS,
        () -> active() == count);
  }

  private void withdrawAll(int count) {
    speaker.execute(() -> {
      for (int queuePair = FIRST; queuePair < FIRST + count; queuePair++) {
        announcer.withdraw(rule(queuePair));
      }
    });
    await("their end", POLL_ALL_NS, () -> gateway.view().rules().rules().isEmpty());
  }

  private WanFigure atAStroke() {
    long begin = System.nanoTime();
    double busySeconds = busySeconds();
    announceAll(RULES);
    double ms = (System.nanoTime() - begin) / 1e6;
    busySeconds = busySeconds() - busySeconds;
    withdrawAll(RULES);
    return WanFigure.atMost(
        "F",
        String.format(Locale.ROOT, "%,d rules by BGP active", RULES),
        ms,
        "ms",
        MOST_ALL_MS,
        String.format(
            Locale.ROOT,
            "from the first announcement until the kernel has the last, each in an UPDATE of its"
                + " own; %.1f s of processor time at both ends",
            busySeconds));
  }

  private static double busySeconds() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
  }

  private long active() {
    return gateway.view().rules().rules().stream().filter(GatewayStatus.Rule::active).count();
  }

  private WanFigure oneByOne() throws InterruptedException {
    Samples samples = new Samples();
    for (int i = 0; i < SINGLES; i++) {
      TimeUnit.MILLISECONDS.sleep(i == 0 ? REST_MS : 1);
      int sofar = i + 1;
      long begin = System.nanoTime();
      announce(FIRST + i, 1);
      await("a rule", POLL_NS, () -> active() == sofar);
      samples.addNs(System.nanoTime() - begin);
    }
    return WanFigure.atMost(
        "D",
        "UPDATE until active",
        samples.percentileMs(95),
        "ms",
        MOST_ONE_MS,
        "95 of 100 of %s rules, one after another".formatted(SINGLES));
  }

  private void await(String what, long pollNs, BooleanSupplier condition) {
    BooleanSupplier over = Objects.requireNonNull(limits.apply(LIMIT_SECONDS));
    while (!condition.getAsBoolean()) {
      if (over.getAsBoolean()) {
        throw new HeddleException(
            "the lone gateway: %s timed out; %s rules are active; %s"
                .formatted(what, active(), gateway.peers()));
      }
      LockSupport.parkNanos(pollNs);
    }
  }
}
