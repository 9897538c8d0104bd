package io.heddle.cli.stat;

import io.heddle.cli.kit.Paint;
import io.heddle.cli.kit.Terminal;
import io.heddle.cli.kit.Units;
import io.heddle.stats.ProcessStats;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Live view of the flows. On a terminal it redraws the alternate screen at each interval, and
 * restores the main screen at the end. Without a terminal it prints plain lines. It ends after a
 * number of frames, or when the process ends.
 */
final class LiveView {
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";
  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String END_OF_LINE = "\u001b[K";
  private static final String END_OF_SCREEN = "\u001b[J";
  private static final int WIDE = 200;
  private static final int MOST_ERROR_LINES = 3;

  private final StatsFolders folders;
  private final @Nullable Long processId;
  private final FlowRates rates;
  private final PrintWriter out;
  private boolean left;

  LiveView(StatsFolders folders, @Nullable Long processId, FlowRates.Order order, PrintWriter out) {
    this.folders = folders;
    this.processId = processId;
    this.out = out;
    rates = new FlowRates(order);
  }

  /**
   * Shows frames.
   *
   * @param frames number of frames; 0 for no end
   */
  void run(long intervalMs, long frames) throws InterruptedException {
    boolean screen = Terminal.current().exists();
    Thread restore = new Thread(() -> show(LEAVE), "restore-terminal");
    if (screen) {
      Runtime.getRuntime().addShutdownHook(restore);
      show(ENTER);
    }
    rates.update(found().processes(), System.nanoTime());
    for (long frame = 0; frames == 0 || frame < frames; frame++) {
      TimeUnit.MILLISECONDS.sleep(intervalMs);
      Terminal terminal = Terminal.current();
      StatsFolders.Found found = found();
      List<FlowRate> flows = rates.update(found.processes(), System.nanoTime());
      if (screen) {
        List<String> lines = lines(found, flows, terminal, System.getenv());
        StringBuilder text = new StringBuilder(HOME);
        for (int i = 0; i < lines.size(); i++) {
          text.append(lines.get(i)).append(END_OF_LINE).append(i + 1 < lines.size() ? "\r\n" : "");
        }
        show(text.append(END_OF_SCREEN).toString());
      } else {
        lines(found, flows, new Terminal(WIDE, Integer.MAX_VALUE), Map.of()).forEach(out::println);
        out.println();
        out.flush();
      }
    }
    if (screen) {
      Runtime.getRuntime().removeShutdownHook(restore);
      show(LEAVE);
    }
  }

  private StatsFolders.Found found() {
    return processId == null ? folders.running() : folders.read(processId);
  }

  /* Prints text at once, but nothing after the text that restores the terminal. */
  private synchronized void show(String text) {
    if (left) {
      return;
    }
    left = text.equals(LEAVE);
    out.print(text);
    out.flush();
  }

  /** Returns the lines of one frame, as many as fit. */
  static List<String> lines(
      StatsFolders.Found found,
      List<FlowRate> flows,
      Terminal terminal,
      Map<String, String> environment) {
    Paint paint = Paint.of(environment, terminal.exists());
    int width = Math.max(terminal.columns(), FlowTable.NARROWEST);
    List<String> lines = new ArrayList<>();
    lines.add(paint.bold(Units.cut(summary(found.processes(), flows), width)));
    for (String sentence : found.unreadable()) {
      lines.add(paint.yellow(Units.cut(sentence, width)));
    }
    newestError(found.processes())
        .forEach(text -> wrapped(text, width).forEach(line -> lines.add(paint.red(line))));
    FlowTable table = new FlowTable(width, true, paint);
    lines.add(table.header());
    int room = terminal.rows() - lines.size();
    boolean all = flows.size() <= room;
    flows.stream()
        .limit(all ? flows.size() : Math.max(0, room - 1))
        .map(table::line)
        .forEach(lines::add);
    if (!all) {
      int shown = Math.max(0, room - 1);
      lines.add(paint.dim(Units.cut("... and " + (flows.size() - shown) + " more flows", width)));
    }
    return lines;
  }

  /* Wraps a sentence instead of cutting it, since the cause is at its end. */
  private static List<String> wrapped(String text, int width) {
    List<String> lines = new ArrayList<>();
    String left = text;
    while (left.length() > width && lines.size() < MOST_ERROR_LINES - 1) {
      int space = left.lastIndexOf(' ', width);
      int end = space > width / 2 ? space : width;
      lines.add(left.substring(0, end));
      left = left.substring(end).stripLeading();
    }
    lines.add(Units.cut(left, width));
    return lines;
  }

  private static String summary(List<ProcessStats> processes, List<FlowRate> flows) {
    double sent = 0;
    double received = 0;
    for (FlowRate flow : flows) {
      sent += flow.now().isSend() ? flow.gigabitsPerSecond() : 0;
      received += flow.now().isSend() ? 0 : flow.gigabitsPerSecond();
    }
    return String.format(
        java.util.Locale.ROOT,
        "%s  %d processes  out %.3f Gbit/s  in %.3f Gbit/s",
        LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS),
        processes.size(),
        sent,
        received);
  }

  private static List<String> newestError(List<ProcessStats> processes) {
    ProcessStats.@Nullable DistinctError newest = null;
    long process = 0;
    for (ProcessStats each : processes) {
      for (ProcessStats.DistinctError error : each.errors()) {
        if (newest == null || error.lastMs() > newest.lastMs()) {
          newest = error;
          process = each.processId();
        }
      }
    }
    return newest == null
        ? List.of()
        : List.of(
            "%s process %s: %s"
                .formatted(
                    Instant.ofEpochMilli(newest.lastMs()).truncatedTo(ChronoUnit.SECONDS),
                    process,
                    newest.sentence()));
  }
}
