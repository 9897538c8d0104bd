package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.spray.SprayPolicy;
import io.heddle.verbs.PathMtu;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Run of a test, from the first byte of the handshake to the report. It uses only the calling
 * thread.
 */
final class Session {
  private static final int LARGEST_PARAMETERS_BYTES = 64;
  private static final long LAST_ACKNOWLEDGEMENTS_MS = 2_000;
  private static final byte[] STANDARD_PEER = {};

  private final Settings settings;
  private final TestDevice.Source source;
  private final ReportText text;
  private final ReportJson json;
  private boolean belowLimit;

  Session(Settings settings, TestDevice.Source source, PrintWriter out) {
    this.settings = settings;
    this.source = source;
    text = new ReportText(out, settings);
    json = new ReportJson(settings);
  }

  /**
   * Runs the test and closes everything that it opened.
   *
   * @throws HeddleException with the reason in one sentence
   */
  void run() {
    try (TestDevice device = TestDevice.open(settings.link(), source)) {
      LaneChoice lanes = new LaneChoice(device, settings.planes(), source.environment());
      try (ControlConnection connection = establish(device)) {
        runTest(device, lanes, new PerftestDialogue(connection));
      }
    }
    if (belowLimit) {
      throw new HeddleException("the result is below the limit of -w or -y");
    }
  }

  private ControlConnection establish(TestDevice device) {
    String host = settings.host();
    WarmUp warmUp = new WarmUp(device, settings);
    if (host != null) {
      warmUp.run();
      return ControlConnection.connect(host, settings.tcpPort());
    }
    try (ControlConnection.Listener listener = new ControlConnection.Listener(settings.tcpPort())) {
      text.printWaiting();
      warmUp.run();
      return listener.accept();
    }
  }

  private void runTest(TestDevice device, LaneChoice choice, PerftestDialogue dialogue) {
    String version = dialogue.exchangeVersions();
    PerftestDialogue.BufferRules rules = dialogue.exchangeBufferRules();
    PathMtu mtu = dialogue.exchangeMtu(device.requestedMtu());
    @Nullable Hello peer = null;
    if (dialogue.isPeerHeddle()) {
      Hello own = Hello.of(settings, choice.keys());
      peer =
          Hello.decode(
              dialogue.exchangeBlob(own.encode(), "its hello"), dialogue.connection().peer());
      own.requireFits(peer, settings.isServer());
    }
    List<Lane> lanes = choice.lanes(peer);
    int count = settings.traffic().queuePairs() * lanes.size();
    try (TestQueues queues = new TestQueues(device.context(), settings, lanes, count, rules)) {
      text.test(device, queues, mtu, version);
      json.test(device, queues, mtu);
      connect(dialogue, queues, mtu);
      text.header();
      measure(dialogue, queues, mtu, peer);
      text.end();
    }
    json.write();
  }

  /*
   * Exchanges the records. Their order differs between the tests; see docs/perftest-handshake.md.
   */
  private void connect(PerftestDialogue dialogue, TestQueues queues, PathMtu mtu) {
    TestKind kind = settings.kind();
    if (kind.startsWithRecordOfFirst()) {
      dialogue.exchangeRecord(queues.own(0));
    }
    for (int i = 0; i < queues.count(); i++) {
      queues.setRemote(i, dialogue.exchangeRecord(queues.own(i)));
    }
    List<byte[]> parameters = peerParameters(dialogue, queues);
    for (int i = 0; i < queues.count(); i++) {
      queues.connect(i, mtu, parameters.get(i));
    }
    if (kind.synchronisesBeforeSecondRound()) {
      dialogue.exchangeRecord(queues.own(0));
    }
    for (int i = 0; i < queues.count(); i++) {
      text.addresses("local", queues.own(i));
    }
    for (int i = 0; i < queues.count(); i++) {
      dialogue.exchangeRecord(queues.own(i));
      text.addresses("remote", queues.remote(i));
    }
    if (!kind.synchronisesBeforeSecondRound()) {
      dialogue.exchangeRecord(queues.own(0));
    }
  }

  /*
   * Returns the peer's endpoint parameters for each queue pair. They are empty if the peer is stock
   * perftest.
   */
  private List<byte[]> peerParameters(PerftestDialogue dialogue, TestQueues queues) {
    List<byte[]> theirs = new ArrayList<>();
    if (!dialogue.isPeerHeddle()) {
      for (int i = 0; i < queues.count(); i++) {
        theirs.add(STANDARD_PEER);
      }
      return theirs;
    }
    ByteBuffer own = ByteBuffer.allocate(queues.count() * (1 + LARGEST_PARAMETERS_BYTES));
    for (int i = 0; i < queues.count(); i++) {
      byte[] each = queues.endpointParameters(i);
      own.put((byte) each.length).put(each);
    }
    byte[] mine = new byte[own.flip().remaining()];
    own.get(mine);
    ByteBuffer said = ByteBuffer.wrap(dialogue.exchangeBlob(mine, "its endpoint parameters"));
    for (int i = 0; i < queues.count(); i++) {
      int length = said.hasRemaining() ? said.get() : -1;
      if (length < 0 || length > Math.min(said.remaining(), LARGEST_PARAMETERS_BYTES)) {
        throw new HeddleException(
            dialogue.connection().peer() + " sent malformed endpoint parameters");
      }
      byte[] each = new byte[length];
      said.get(each);
      theirs.add(each);
    }
    return theirs;
  }

  private List<Long> sizes() {
    long largest = settings.traffic().sizeBytes();
    if (!settings.traffic().allSizes()) {
      return List.of(largest);
    }
    List<Long> sizes = new ArrayList<>();
    for (long size = 2; size <= largest; size *= 2) {
      sizes.add(size);
    }
    return sizes;
  }

  private void measure(
      PerftestDialogue dialogue, TestQueues queues, PathMtu mtu, @Nullable Hello peer) {
    if (settings.kind().isLatency()) {
      playPingPong(dialogue, queues);
    } else if (settings.isServer() && !settings.sends() && !settings.receives()) {
      observe(dialogue, queues, peer);
    } else {
      runBandwidth(dialogue, queues, mtu, peer);
    }
  }

  /* Runs the server of a one-sided test: the client does everything and sends the result. */
  private void observe(PerftestDialogue dialogue, TestQueues queues, @Nullable Hello peer) {
    dialogue.synchronise(queues.own(0), "the end of the client's run");
    BandwidthReport report = dialogue.exchangeReport(BandwidthReport.EMPTY);
    publish(inOwnUnit(report, peer));
    dialogue.finish(queues.own(0));
  }

  /*
   * Converts the peer's report to the unit of this end. Each end reports in its own unit. Stock
   * perftest assumes that both units are equal.
   */
  private BandwidthReport inOwnUnit(BandwidthReport report, @Nullable Hello peer) {
    boolean gigabits = settings.output().gigabits();
    if (peer == null || peer.gigabits() == gigabits) {
      return report;
    }
    double factor =
        BandwidthResult.unitBytes(peer.gigabits()) / BandwidthResult.unitBytes(gigabits);
    return new BandwidthReport(
        report.sizeBytes(),
        report.iterations(),
        report.peak() * factor,
        report.average() * factor,
        report.messageRate());
  }

  private void runBandwidth(
      PerftestDialogue dialogue, TestQueues queues, PathMtu mtu, @Nullable Hello peer) {
    Settings.Traffic traffic = settings.traffic();
    boolean both = traffic.bidirectional();
    boolean send = settings.kind().isSend();
    BandwidthReport own = BandwidthReport.EMPTY;
    for (long size : sizes()) {
      BandwidthResult result = run(dialogue, queues, mtu, size);
      own = result.report(settings.output().gigabits());
      if (both && !send && traffic.allSizes()) {
        dialogue.synchronise(queues.own(0), "the end of the other direction");
      }
      boolean reported = both && !(send && traffic.isTimed());
      publish(reported ? own.plus(inOwnUnit(dialogue.exchangeReport(own), peer)) : own);
      publish(queues, result);
      if (send && traffic.allSizes()) {
        dialogue.synchronise(queues.own(0), "the end of this size");
      }
    }
    if (!send && !both) {
      dialogue.synchronise(queues.own(0), "the server's answer to the end of the run");
      dialogue.exchangeReport(own);
    }
    dialogue.finish(queues.own(0));
  }

  private BandwidthResult run(
      PerftestDialogue dialogue, TestQueues queues, PathMtu mtu, long size) {
    RunGuard guard = new RunGuard(dialogue.connection(), IdlePolicy.of(settings, size));
    boolean together = settings.kind().isSend() || settings.traffic().bidirectional();
    String policy = settings.planes().policy();
    if (policy != null) {
      SprayRun run =
          new SprayRun(
              queues,
              settings,
              SprayPolicy.named(policy, queues.own(0).psn()),
              SprayRun.weights(settings.planes().weights(), queues.lanes()),
              mtu,
              size,
              guard);
      if (together) {
        dialogue.synchronise(queues.own(0), "the start of the run");
      }
      run.run();
      return run.result();
    }
    BandwidthRun run = new BandwidthRun(queues, settings, size, guard);
    run.postFirstReceives();
    if (together) {
      dialogue.synchronise(queues.own(0), "the start of the run");
    }
    run.run();
    return run.result();
  }

  private void publish(BandwidthReport report) {
    Settings.Output output = settings.output();
    text.row(report);
    json.row(report);
    belowLimit |=
        report.average() < output.leastRate() || report.messageRate() < output.leastMessageRate();
  }

  private void publish(TestQueues queues, BandwidthResult result) {
    text.percentiles(result.completionTimes(), "completion");
    text.planes(queues.lanes(), result);
    json.distribution("completion_usec", result.completionTimes());
    json.planes(queues.lanes(), result);
  }

  private void playPingPong(PerftestDialogue dialogue, TestQueues queues) {
    ControlConnection connection = dialogue.connection();
    if (queues.lanes().size() > 1 && !dialogue.isPeerHeddle()) {
      throw new HeddleException(
          "stock perftest measures latency over one queue pair: choose one plane with --planes");
    }
    for (long size : sizes()) {
      List<LatencyResult> results = new ArrayList<>();
      for (int i = 0; i < queues.count(); i++) {
        results.add(play(dialogue, queues, i, size));
      }
      LatencyResult all = LatencyResult.combine(results);
      text.values(all);
      text.row(all);
      text.percentiles(all.distribution(), "half round trip");
      text.planes(queues.lanes(), results);
      json.row(all);
      json.planes(queues.lanes(), results);
    }
    if (settings.kind().endsWithGoodbye() || dialogue.isPeerHeddle()) {
      dialogue.finish(queues.own(0));
    } else {
      /*
       * Waits until the peer has closed the connection: the peer's last messages may still need
       * this end's acknowledgement.
       */
      connection.finish();
      connection.awaitEnd(LAST_ACKNOWLEDGEMENTS_MS);
    }
  }

  private LatencyResult play(PerftestDialogue dialogue, TestQueues queues, int index, long size) {
    RunGuard guard = new RunGuard(dialogue.connection(), IdlePolicy.ofSender());
    if (settings.kind().isSend()) {
      SendLatencyRun run =
          new SendLatencyRun(queues, index, settings, !settings.isServer(), size, guard);
      run.postFirstReceives();
      dialogue.synchronise(queues.own(0), "the start of the run");
      run.run();
      return run.result();
    }
    WriteLatencyRun run =
        new WriteLatencyRun(queues, index, settings, settings.isServer(), size, guard);
    run.run();
    return run.result();
  }
}
