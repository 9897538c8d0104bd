package io.heddle.cli.gateway;

import io.heddle.cli.kit.Paint;
import io.heddle.cli.kit.Terminal;
import io.heddle.cli.kit.Units;
import io.heddle.gateway.GatewayStatus;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Live view of a gateway: its segment lists as bars, and its fastest flows. Every second it redraws
 * the terminal's alternate screen; without a terminal it prints plain lines. It ends when the
 * thread is interrupted.
 */
final class GatewayLiveView {
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";
  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String END_OF_LINE = "\u001b[K";
  private static final String END_OF_SCREEN = "\u001b[J";
  private static final int WIDE = 200;
  private static final long INTERVAL_MS = 1_000;

  private final GatewayControl control;
  private final PrintWriter out;
  private boolean left;

  GatewayLiveView(GatewayControl control, PrintWriter out) {
    this.control = control;
    this.out = out;
  }

  void run() throws InterruptedException {
    boolean screen = Terminal.current().exists();
    GatewayStatus.Lists lists =
        control.request(GatewayRequestHandler.LISTS, GatewayStatus.Lists.class);
    if (screen) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> show(LEAVE), "restore-terminal"));
      show(ENTER);
    }
    while (!Thread.interrupted()) {
      GatewayStatus.Flows flows =
          control.request(GatewayRequestHandler.FLOWS, GatewayStatus.Flows.class);
      if (screen) {
        Terminal terminal = Terminal.current();
        List<String> lines = lines(lists, flows, terminal, System.getenv());
        show(HOME + String.join(END_OF_LINE + "\r\n", lines) + END_OF_LINE + END_OF_SCREEN);
      } else {
        lines(lists, flows, new Terminal(WIDE, Integer.MAX_VALUE), Map.of()).forEach(out::println);
        out.println();
        out.flush();
      }
      TimeUnit.MILLISECONDS.sleep(INTERVAL_MS);
      lists = control.request(GatewayRequestHandler.LISTS, GatewayStatus.Lists.class);
    }
  }

  /* Prints a text and flushes it. Prints nothing more after the text that restores the terminal. */
  private synchronized void show(String text) {
    if (left) {
      return;
    }
    left = text.equals(LEAVE);
    out.print(text);
    out.flush();
  }

  /** Returns the lines of one screen, as many as fit on the terminal. */
  static List<String> lines(
      GatewayStatus.Lists lists,
      GatewayStatus.Flows flows,
      Terminal terminal,
      Map<String, String> environment) {
    Paint paint = Paint.of(environment, terminal.exists());
    int width = terminal.columns();
    List<String> lines = new ArrayList<>();
    lines.add(
        paint.bold(Units.cut(flows.time() + "  " + GatewayTables.traffic(lists.traffic()), width)));
    long most =
        lists.lists().stream().mapToLong(GatewayStatus.SegmentList::bitsPerSecond).max().orElse(0);
    for (GatewayStatus.SegmentList each : lists.lists()) {
      String bar = Units.cut(GatewayTables.bar(each, most), width);
      lines.add(each.alive() ? bar : paint.red(bar));
    }
    List<String> table = GatewayTables.flows(flows);
    lines.add(paint.dim(Units.cut(table.getFirst(), width)));
    int room = Math.max(0, terminal.rows() - lines.size() - 1);
    int shown = Math.min(room, flows.flows().size());
    for (int i = 0; i < shown; i++) {
      String line = Units.cut(table.get(1 + i), width);
      GatewayStatus.Flow flow = flows.flows().get(i);
      lines.add(
          flow.steeredBy() != null
              ? paint.yellow(line)
              : flow.elephant() ? paint.bold(line) : line);
    }
    int more = flows.flows().size() - shown;
    lines.add(
        paint.dim(
            Units.cut(table.getLast() + (more > 0 ? "; " + more + " more than fit" : ""), width)));
    return lines;
  }
}
