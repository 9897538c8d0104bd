package io.heddle.controller.run;

import io.heddle.controller.audit.AuditLog;
import io.heddle.controller.file.ControllerConfig;
import io.heddle.controller.model.Decision;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.solver.ListForecast;
import io.heddle.controller.solver.PolicyVerdict;
import io.heddle.controller.solver.Round;
import io.heddle.controller.solver.Solver;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ResilientThread;
import io.heddle.telemetry.client.TelemetryClient;
import io.heddle.telemetry.client.TelemetryConnections;
import io.heddle.telemetry.client.TelemetryTarget;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Running controller. It decides in rounds. A round begins when telemetry arrives, and after an
 * interval in any case.
 *
 * <p>It adopts the rules of an earlier controller from the gateways' reports, and announces them
 * again. BGP sessions start only after that, or after several rounds: a gateway removes rules that
 * a new session doesn't announce.
 */
public final class Controller implements AutoCloseable {
  private static final int KEPT_DECISIONS = 20;
  private static final int MOST_ROUNDS_WITHOUT_REPORTS = 10;
  /*
   * Time that a round waits after the first report, since the other targets report shortly after
   * it.
   */
  private static final long TOGETHER_MS = 10;
  private static final double SOONEST = 0.8;

  private final ControllerConfig config;
  private final NetworkConfig network;
  private final NanoClock clock;
  private final Log log;
  private final TelemetryStore store;
  private final SnapshotBuilder snapshots;
  private final Solver solver;
  private final RuleBook book;
  private final RuleSpeaker speaker;
  private final RuleAudit audit;
  private final @Nullable AuditLog auditLog;
  private final RoundTimes times = new RoundTimes();
  private final List<TelemetryClient> clients = new ArrayList<>();
  private final Set<String> adopted = new HashSet<>();
  private final Deque<ControllerStatus.DecisionRow> decisions = new ArrayDeque<>();
  private List<PolicyVerdict> verdicts = List.of();
  private List<ListForecast> forecasts = List.of();
  private List<String> gaps = List.of("nothing has been reported yet");
  private @Nullable TelemetryConnections connections;
  private int rounds;
  private long lastRoundNs = Long.MIN_VALUE;
  /* Round that the solver assumes to be applied, but that isn't in the audit log yet. */
  private @Nullable PendingRound pending;
  private @Nullable String auditTrouble;
  private boolean speaking;
  private volatile boolean closed;

  /**
   * Creates a controller without telemetry subscriptions.
   *
   * @param auditLog log of rounds, closed with the controller; null for none
   * @param clock clock for the age of reports
   */
  Controller(
      ControllerConfig config,
      NetworkConfig network,
      @Nullable AuditLog auditLog,
      NanoClock clock,
      Log log) {
    this.config = config;
    this.network = network;
    this.clock = clock;
    this.log = log;
    store = new TelemetryStore(clock::nanoTime, log);
    snapshots = new SnapshotBuilder(network, store);
    solver = new Solver(config.settings(), config.strategy());
    book = new RuleBook(network.types());
    long patienceNs = config.settings().intervalNs() * (config.settings().staleIntervals() + 1L);
    audit = new RuleAudit(network, store, book, patienceNs);
    this.auditLog = auditLog;
    speaker = new RuleSpeaker(network, log);
  }

  private static @Nullable AuditLog open(@Nullable Path file) {
    try {
      return file == null ? null : new AuditLog(file);
    } catch (IOException refused) {
      throw new HeddleException(
          "the audit %s can't be opened: %s; \"audit\" in the configuration names another"
              .formatted(file, FileFailure.reason(refused)),
          refused);
    }
  }

  /**
   * Starts a controller in the calling thread's network namespace.
   *
   * @throws HeddleException if the configuration has no network, or a file can't be used
   */
  public static Controller start(ControllerConfig config, Log log) {
    NetworkConfig network = network(config);
    Controller controller =
        new Controller(config, network, open(network.audit()), NanoClock.SYSTEM, log);
    try {
      TelemetryConnections connections = new TelemetryConnections(network.tls());
      controller.connections = connections;
      for (NetworkConfig.Target target : network.targets()) {
        controller.clients.add(
            connections.subscribe(
                subscription(target, config.settings().intervalNs()),
                controller.store.listener(target.name())));
      }
      return controller;
    } catch (RuntimeException failed) {
      controller.close();
      throw failed;
    }
  }

  /**
   * Returns the network part of the configuration.
   *
   * @throws HeddleException if the configuration has none
   */
  public static NetworkConfig network(ControllerConfig config) {
    NetworkConfig network = config.network();
    if (network == null) {
      throw new HeddleException(
          "the configuration names no gateway; add a section [gateway NAME], as docs/dci.md has"
              + " it");
    }
    return network;
  }

  private static TelemetryTarget subscription(NetworkConfig.Target target, long intervalNs) {
    return new TelemetryTarget(
        target.name(),
        target.host(),
        target.port(),
        target.serverName(),
        target.isGateway() ? List.of(ReportPath.values()) : List.of(ReportPath.INTERFACES),
        intervalNs);
  }

  /**
   * Starts the thread that decides.
   *
   * @param onPersistentFailure action that runs if this thread or the BGP speaker's thread keeps
   *     failing
   */
  public void startDecisions(Runnable onPersistentFailure) {
    speaker.onPersistentFailure(onPersistentFailure);
    new ResilientThread("heddle-controller", log, this::round)
        .onPersistentFailure(onPersistentFailure)
        .start();
  }

  /*
   * Waits for the next round, and runs it. Never returns true without having run a round: the
   * thread would count that as a success, and forget earlier failures.
   */
  private boolean round() throws InterruptedException {
    long intervalNs = config.settings().intervalNs();
    long now;
    do {
      store.awaitChange(intervalNs);
      TimeUnit.MILLISECONDS.sleep(TOGETHER_MS);
      now = clock.nanoTime();
    } while (!closed && lastRoundNs != Long.MIN_VALUE && now - lastRoundNs < SOONEST * intervalNs);
    lastRoundNs = now;
    if (!closed) {
      runRound(now);
    }
    return !closed;
  }

  /** Returns the store of telemetry reports. */
  TelemetryStore store() {
    return store;
  }

  /** Returns the BGP speaker that announces rules. */
  RuleSpeaker speaker() {
    return speaker;
  }

  /** Runs one round on the reports received so far. */
  synchronized void runRound(long nowNs) {
    long begin = System.nanoTime();
    decide(nowNs);
    times.add(System.nanoTime() - begin);
  }

  private void decide(long nowNs) {
    SnapshotBuilder.Result made = snapshots.make(nowNs);
    network.gateways().forEach(this::adopt);
    gaps = made.gaps();
    rounds++;
    if (!speaking) {
      if (adopted.size() < network.gateways().size() && rounds < MOST_ROUNDS_WITHOUT_REPORTS) {
        return;
      }
      speaking = true;
      speaker.begin();
    }
    /*
     * Without a session no gateway would receive a new rule. A moved flow would stay on its old
     * list, and the solver would react with more moves.
     */
    if (!speaker.hasReceiver()) {
      gaps = Stream.concat(gaps.stream(), Stream.of("a BGP session: nothing is decided")).toList();
      return;
    }
    if (carryOutPending()) {
      pending = new PendingRound(made.snapshot(), solver.next(made.snapshot(), made.unknown()));
      carryOutPending();
    }
    if (auditTrouble != null) {
      gaps = Stream.concat(gaps.stream(), Stream.of("anything: " + auditTrouble)).toList();
    }
  }

  private record PendingRound(NetworkSnapshot inputs, Round round) {}

  /*
   * Applies the pending round once it is in the audit log. Returns whether no round is pending
   * afterwards.
   */
  private boolean carryOutPending() {
    PendingRound next = pending;
    if (next == null) {
      return true;
    }
    if (!isWritten(next)) {
      return false;
    }
    pending = null;
    Round round = next.round();
    round.decisions().forEach(this::carryOut);
    verdicts = round.verdicts();
    forecasts = ListForecast.of(next.inputs(), round.decisions());
    return true;
  }

  /*
   * Adopts the rules that a gateway has from an earlier controller with this controller's router
   * id. Does so once, after the gateway's first complete report.
   */
  private void adopt(NetworkConfig.Target gateway) {
    TelemetryStore.Reported reported = store.reported(gateway.name());
    if (!reported.isWhole() || !adopted.add(gateway.name())) {
      return;
    }
    for (RuleReport rule : reported.rules()) {
      String source = rule.source();
      String policy = policy(reported.lists(), rule.list());
      if (source != null
          && policy != null
          && RuleBook.hasRules(source, rule.destination())
          && rule.setBy().equals(RuleAudit.setBy(network))) {
        FlowId flow = RuleBook.flow(gateway.name(), source, rule.destination(), rule.queuePair());
        FlowId other = book.ruleWithSameKey(flow);
        if (other != null) {
          log.warn(
              "the rule of %s at gateway %s isn't taken over: gateway %s has the same rule",
              flow, flow.gateway(), other.gateway());
          continue;
        }
        String name = SnapshotBuilder.policy(gateway.name(), policy);
        String sentence =
            "the rule of %s to list %s was found in force and is taken over"
                .formatted(flow, rule.list());
        solver.adopt(flow, name, rule.list());
        speaker.announce(book.addRule(flow, gateway.routerId(), name, rule.list(), sentence));
        record("adopt", name, sentence);
      }
    }
  }

  private static @Nullable String policy(List<ListReport> lists, int list) {
    return lists.stream()
        .filter(each -> each.id() == list)
        .map(ListReport::policy)
        .findFirst()
        .orElse(null);
  }

  private boolean isWritten(PendingRound next) {
    boolean changed = !states(next.round().verdicts()).equals(states(verdicts));
    if (auditLog == null || (!changed && next.round().decisions().isEmpty())) {
      return true;
    }
    try {
      auditLog.append(Instant.now(), next.inputs(), next.round());
      if (auditTrouble != null) {
        log.info("the audit is written again");
        auditTrouble = null;
      }
      return true;
    } catch (IOException failed) {
      String why =
          "the audit can't be written, so nothing is decided: " + FileFailure.reason(failed);
      if (!why.equals(auditTrouble)) {
        log.warn("%s", why);
        auditTrouble = why;
      }
      return false;
    }
  }

  private static List<PolicyVerdict.State> states(List<PolicyVerdict> verdicts) {
    return verdicts.stream().map(PolicyVerdict::state).toList();
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Move move -> {
        int gatewayId =
            network.gateways().stream()
                .filter(each -> each.name().equals(move.flow().gateway()))
                .findFirst()
                .orElseThrow()
                .routerId();
        speaker.announce(
            book.addRule(move.flow(), gatewayId, move.policy(), move.to(), move.sentence()));
        record("move", move.policy(), move.sentence());
      }
      case Decision.Withdrawal gone -> {
        RuleBook.Reason was = book.removeRule(gone.flow());
        if (was != null) {
          speaker.withdraw(was);
        }
        record("withdraw", gone.policy(), gone.sentence());
      }
    }
  }

  private void record(String action, String policy, String sentence) {
    log.info("%s: %s", policy, sentence);
    decisions.addFirst(new ControllerStatus.DecisionRow(now(), action, policy, sentence));
    if (decisions.size() > KEPT_DECISIONS) {
      decisions.removeLast();
    }
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
  }

  /** Returns the controller's state, for people. Thread-safe. */
  public ControllerStatus.Overview overview() {
    List<ControllerStatus.PeerRow> peers = speaker.peers();
    synchronized (this) {
      return new ControllerStatus.Overview(
          now(),
          network.targets().stream().map(this::target).toList(),
          peers,
          verdicts.stream()
              .map(each ->
                  new ControllerStatus.PolicyRow(each.policy(), each.state(), each.sentence()))
              .toList(),
          gaps,
          forecasts.stream()
              .map(each -> new ControllerStatus.ListRow(each.policy(), each.list(), each.now()))
              .toList(),
          book.all().stream().map(Controller::rule).toList(),
          List.copyOf(decisions),
          new ControllerStatus.Work(times.rounds(), times.slowestMs(), store.records()));
    }
  }

  private ControllerStatus.TargetRow target(NetworkConfig.Target target) {
    TelemetryStore.Reported reported = store.reported(target.name());
    return new ControllerStatus.TargetRow(
        target.name(), reported.trouble() == null, reported.trouble(), reported.elephants().size());
  }

  private static ControllerStatus.RuleRow rule(RuleBook.Reason reason) {
    FlowId flow = reason.flow();
    return new ControllerStatus.RuleRow(
        flow.gateway(),
        flow.source(),
        flow.destination(),
        flow.queuePair(),
        reason.policy(),
        reason.list(),
        reason.since().truncatedTo(ChronoUnit.MILLIS).toString(),
        reason.sentence());
  }

  /** Compares the rules that gateways report with the rule book. Thread-safe. */
  public ControllerStatus.AuditReport audit() {
    List<ControllerStatus.AuditRow> rows = audit.rows();
    return new ControllerStatus.AuditReport(
        now(), (int) rows.stream().filter(each -> each.fit().isFault()).count(), rows);
  }

  /** Withdraws all rules, since nothing would withdraw them later, and ends the controller. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    clients.forEach(TelemetryClient::close);
    if (connections != null) {
      connections.close();
    }
    synchronized (this) {
      book.all()
          .forEach(each -> speaker.withdraw(Objects.requireNonNull(book.removeRule(each.flow()))));
      speaker.close();
      try {
        if (auditLog != null) {
          auditLog.close();
        }
      } catch (IOException failed) {
        log.warn("the audit can't be closed: %s", FileFailure.reason(failed));
      }
    }
  }
}
