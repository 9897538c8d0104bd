package io.heddle.cli.stat;

import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.Paint;
import io.heddle.cli.kit.Terminal;
import io.heddle.cli.kit.Units;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command {@code heddle stat}: counters of the plugin's processes. */
@Command(
    name = "stat",
    description =
        "Shows the counters of every process with the plugin, by peer and plane: bytes, completion"
            + " times, reordering, retransmissions, failovers, weights.",
    mixinStandardHelpOptions = true,
    footer = {
      "%nflying: bytes that the peer's device hasn't acknowledged. p50, p99, p99.9: from a work"
          + " request's post to its acknowledgement; of receivers, those of their clear-to-send"
          + " entries. ahead: how many chunks ahead of their message's gap 99 of 100 chunks came at"
          + " most; with the policy packet, packets ahead of the first missing one. moved: bytes"
          + " that went over another plane after this one failed.",
      "%nThe live view shows rates since its last update and drops columns if the terminal is"
          + " narrow; NO_COLOR is honoured."
    },
    exitCodeList = {"0:Some processes have the plugin.", "1:No process has it."})
public final class StatCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int WIDE = 200;
  private static final double SHORTEST_SECONDS = 0.1;
  private static final double LONGEST_SECONDS = 3600;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--watch", description = "Live view: redraws at each interval, until ^C.")
  private boolean watch;

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      defaultValue = "1",
      description = "Interval of --watch (${DEFAULT-VALUE}).")
  private double interval;

  @Option(
      names = "--frames",
      paramLabel = "N",
      defaultValue = "0",
      description = "Number of frames after which --watch ends (0: no end).")
  private long frames;

  @Option(
      names = "--sort",
      paramLabel = "ORDER",
      defaultValue = "rate",
      description = "Order of --watch: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private FlowRates.Order order = FlowRates.Order.RATE;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Option(names = "--pid", paramLabel = "PROCESS", description = "Only of this process.")
  private @Nullable Long processId;

  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  /**
   * One process, as --json shows it.
   *
   * @param process ID of the process
   * @param alive whether the process still runs
   * @param started time of the plugin's start, ISO 8601
   * @param file statistics file of the process
   * @param distinctErrors number of distinct warnings; heddle errors shows them
   * @param deviceCounters counters of the devices, by device/counter
   */
  record ProcessEntry(
      long process,
      boolean alive,
      String started,
      String file,
      long distinctErrors,
      Map<String, Long> deviceCounters,
      List<FlowEntry> flows) {}

  /**
   * One flow, as --json shows it.
   *
   * @param peer name of the other end
   * @param plane key of the plane
   * @param direction {@code send} or {@code receive}
   * @param local address of this end on the plane
   * @param remote address of the other end on the plane
   * @param communicators number of open communicators in this row
   * @param weight weight of the plane, relative to the other planes to this peer
   * @param weightBy source of the weight
   * @param weightSince time of the weight's last change, ISO 8601; null if never set
   * @param bytes bytes of messages, sent or received
   * @param chunks pieces of messages, sent or received
   * @param messages messages, counted on a communicator's first plane
   * @param inFlightBytes bytes that the peer's device hasn't acknowledged yet
   * @param wouldBlock calls answered with "call again", counted on a communicator's first plane
   * @param cutSends sends that were longer than their receives and were cut, counted on a
   *     communicator's first plane
   * @param completions work requests that ended
   * @param p50Ns completion time that half of the work requests don't exceed
   * @param p99Ns completion time that 99 in 100 work requests don't exceed
   * @param p999Ns completion time that 999 in 1000 work requests don't exceed
   * @param chunksAheadOfGap number of chunks by distance ahead of their message's gap: 0, 1, 2 to
   *     3, 4 to 7 …
   * @param duplicates chunks or packets received twice
   * @param resentPackets retransmitted packets
   * @param failovers times that a communicator continued without the plane
   * @param movedChunks chunks that went over another plane after this one failed
   * @param movedBytes bytes of these chunks
   * @param puts one-sided writes that were started, or at the other end received
   * @param signals signals sent with one-sided writes, or at the other end applied
   * @param gets one-sided reads that were started
   * @param getBytes bytes that one-sided reads have read
   * @param flushes one-sided flushes that were started
   */
  record FlowEntry(
      String peer,
      String plane,
      String direction,
      String local,
      String remote,
      int communicators,
      int weight,
      String weightBy,
      @Nullable String weightSince,
      long bytes,
      long chunks,
      long messages,
      long inFlightBytes,
      long wouldBlock,
      long cutSends,
      long completions,
      long p50Ns,
      long p99Ns,
      long p999Ns,
      List<Long> chunksAheadOfGap,
      long duplicates,
      long resentPackets,
      long failovers,
      long movedChunks,
      long movedBytes,
      long puts,
      long signals,
      long gets,
      long getBytes,
      long flushes) {
    static FlowEntry of(Flow flow) {
      return new FlowEntry(
          flow.key().peer(),
          flow.key().plane(),
          flow.isSend() ? "send" : "receive",
          flow.local(),
          flow.remote(),
          flow.communicators(),
          flow.weight(),
          flow.weightSource(),
          flow.weightSinceMs() == 0 ? null : Instant.ofEpochMilli(flow.weightSinceMs()).toString(),
          flow.bytes(),
          flow.chunks(),
          flow.messages(),
          flow.inFlightBytes(),
          flow.wouldBlock(),
          flow.cutSends(),
          flow.latencies().total(),
          flow.latencies().percentileNs(0.5),
          flow.latencies().percentileNs(0.99),
          flow.latencies().percentileNs(0.999),
          Arrays.stream(flow.reordering()).boxed().toList(),
          flow.duplicates(),
          flow.resentPackets(),
          flow.failovers(),
          flow.movedChunks(),
          flow.movedBytes(),
          flow.oneSided().puts(),
          flow.oneSided().signals(),
          flow.oneSided().gets(),
          flow.oneSided().getBytes(),
          flow.oneSided().flushes());
    }
  }

  /**
   * The whole document.
   *
   * @param unreadable statistics files that can't be read, each with the reason
   */
  record Document(List<ProcessEntry> processes, List<String> unreadable) {}

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    StatsFolders folders = stats.folders();
    if (watch) {
      startLive(folders, out);
      return 0;
    }
    for (String live : List.of("--interval", "--frames", "--sort")) {
      if (spec.commandLine().getParseResult().hasMatchedOption(live)) {
        throw refused(live + " needs --watch");
      }
    }
    StatsFolders.Found found = folders.read(processId);
    if (json) {
      out.println(
          Json.of(
              new Document(
                  found.processes().stream().map(StatCommand::entry).toList(),
                  found.unreadable())));
    } else {
      print(found, folders, out);
    }
    out.flush();
    return found.processes().isEmpty() ? FAILED : 0;
  }

  private void startLive(StatsFolders folders, PrintWriter out) throws InterruptedException {
    if (json) {
      throw refused("--watch and --json exclude each other");
    }
    if (!(interval >= SHORTEST_SECONDS && interval <= LONGEST_SECONDS)) {
      throw refused("--interval " + interval + " is not in 0.1 to 3600 seconds");
    }
    if (frames < 0) {
      throw refused("--frames " + frames + " is negative");
    }
    new LiveView(folders, processId, order, out).run((long) (interval * 1000), frames);
  }

  private CommandLine.ParameterException refused(String why) {
    return new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  private static ProcessEntry entry(ProcessStats process) {
    return new ProcessEntry(
        process.processId(),
        isAlive(process),
        Instant.ofEpochMilli(process.startMs()).toString(),
        process.file().toString(),
        process.errors().size() + process.errorsLost(),
        process.deviceCounters(),
        Flow.of(process).stream().map(FlowEntry::of).toList());
  }

  private static boolean isAlive(ProcessStats process) {
    return !StatsReader.hasEnded(process.file());
  }

  private void print(StatsFolders.Found found, StatsFolders folders, PrintWriter out) {
    found.unreadable().forEach(sentence -> out.println("heddle: " + sentence));
    if (found.processes().isEmpty()) {
      throw folders.missingStatistics(processId);
    }
    Terminal terminal = Terminal.current();
    int width = terminal.exists() ? terminal.columns() : WIDE;
    FlowTable table = new FlowTable(width, false, Paint.of(System.getenv(), terminal.exists()));
    FlowRates rates = new FlowRates(FlowRates.Order.PEER);
    for (ProcessStats process : found.processes()) {
      out.printf(
          "process %s%s, %s old, %s distinct errors%n",
          process.processId(),
          isAlive(process) ? "" : " (ended)",
          Units.age(System.currentTimeMillis() - process.startMs()),
          process.errors().size() + process.errorsLost());
      out.println(table.header());
      rates
          .update(List.of(process), System.nanoTime())
          .forEach(rate -> out.println(table.line(rate)));
      printDevices(process, out);
      out.println();
    }
  }

  private static void printDevices(ProcessStats process, PrintWriter out) {
    StringBuilder line = new StringBuilder();
    process
        .deviceCounters()
        .forEach((name, value) -> {
          if (value != 0) {
            line.append(line.isEmpty() ? "" : ", ")
                .append(name)
                .append(' ')
                .append(Units.count(value));
          }
        });
    if (!line.isEmpty()) {
      out.println("devices: " + line);
    }
  }
}
