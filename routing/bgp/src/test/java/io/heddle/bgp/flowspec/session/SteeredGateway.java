package io.heddle.bgp.flowspec.session;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.table.QueuePairKey;
import io.heddle.bgp.flowspec.table.RuleAdmission;
import io.heddle.bgp.flowspec.table.RuleChangeListener;
import io.heddle.bgp.flowspec.table.RuleEntry;
import io.heddle.bgp.flowspec.table.RuleLimits;
import io.heddle.bgp.flowspec.table.RuleTable;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * BGP part of a gateway, for tests: the rules that a test's controller announces enter its table.
 */
final class SteeredGateway implements AutoCloseable {
  static final int ROUTER_ID = 0x0a000001;
  static final FlowKey FLOW = Rules.flow("fd00:1::1", "fd00:2::2", 0x11);
  static final SteeringAttributes STEERING = new SteeringAttributes(IndirectionEncoding.DEFAULT);

  private record Waiting(long delayNs, Runnable task) {}

  private final List<String> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger changes = new AtomicInteger();
  private final Deque<Waiting> later = new ArrayDeque<>();
  final BgpSpeaker speaker;
  final RuleTable table;
  final RuleReceiver receiver;
  private final RuleReceivers receivers;
  PeerSession session;

  SteeredGateway(RuleGrace grace) {
    Log to = (level, sentence) -> log.add(level + " " + sentence);
    speaker = new BgpSpeaker(to);
    RuleChangeListener counted =
        new RuleChangeListener() {
          @Override
          public void queuePair(QueuePairKey key) {
            changes.incrementAndGet();
          }

          @Override
          public void any() {
            changes.incrementAndGet();
          }
        };
    table = new RuleTable(list -> true, counted, NanoClock.SYSTEM, to);
    receiver = receiver("controller", "fd00:2::/32", Rules.CODEC, grace, to);
    receivers =
        new RuleReceivers(
            List.of(
                receiver,
                receiver("controller (IPv4)", "10.2.0.0/16", Rules.IPV4_CODEC, grace, to)));
  }

  private RuleReceiver receiver(
      String peer, String destinations, FlowspecCodec codec, RuleGrace grace, Log to) {
    RuleAdmission admission =
        new RuleAdmission(
            peer,
            RuleLimits.to(List.of(Prefix.of(destinations))),
            STEERING,
            ROUTER_ID,
            table,
            NanoClock.SYSTEM);
    return new RuleReceiver(
        peer,
        codec,
        admission,
        table,
        grace,
        (delayNs, task) -> later.add(new Waiting(delayNs, task)),
        to);
  }

  void connect(PeerOptions options) {
    session = speaker.add(options, receivers);
    speaker.execute(session::start);
  }

  boolean isEstablished() {
    return speaker.callOnLoop(session::state) == SessionState.ESTABLISHED;
  }

  void put(FlowRule rule, int list) {
    table.put(new RuleEntry(rule, "controller", 1, list));
  }

  /** Runs the oldest waiting timer task at once. Returns the delay with which it was scheduled. */
  long runLater() {
    Waiting first = later.remove();
    first.task().run();
    return first.delayNs();
  }

  /** Returns the list of the test's flow; 0 if no rule applies, so that the flow's hash decides. */
  int list() {
    return list(FLOW);
  }

  int list(FlowKey flow) {
    return speaker.callOnLoop(() -> {
      RuleEntry winner = table.winner(flow);
      return winner == null ? 0 : winner.list();
    });
  }

  int rules() {
    return speaker.callOnLoop(table::size);
  }

  /** Returns whether a log line contains the text. */
  boolean hasLogged(String part) {
    return log.stream().anyMatch(each -> each.contains(part));
  }

  /** Returns the warnings, except those on the end of a session. */
  List<String> warnings() {
    return log.stream()
        .filter(each -> each.startsWith("WARN") && !each.contains("no session"))
        .toList();
  }

  void awaitList(int list) {
    await("list " + list, () -> list() == list);
  }

  void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.ofSeconds(30);
    while (!condition.getAsBoolean()) {
      assertTrue(!deadline.isOver(), () -> what + " didn't come; log " + log);
      LockSupport.parkNanos(2_000_000);
    }
  }

  @Override
  public void close() {
    speaker.close();
  }
}
