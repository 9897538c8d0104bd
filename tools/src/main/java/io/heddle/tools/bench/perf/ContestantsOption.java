package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options for the contestants of a measurement and their links. Contestants are the plugin over
 * planes, and a rival.
 */
final class ContestantsOption {
  /** Largest number of helper threads that the TCP plugin and NCCL's socket transport support. */
  private static final int MOST_RIVAL_THREADS = 16;

  private static final int MOST_RIVAL_SOCKETS = 64;

  @Option(names = "--planes", paramLabel = "N", description = "Planes (${DEFAULT-VALUE}).")
  private int planes = 4;

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu = 9000;

  @Option(
      names = "--tcp-congestion",
      paramLabel = "NAME",
      defaultValue = "cubic",
      description = "Congestion control of the TCP plugin (${DEFAULT-VALUE}).")
  private String congestion = "cubic";

  @Option(
      names = "--rival-threads",
      paramLabel = "N",
      description =
          "Helper threads per communicator of the TCP plugin, like NCCL_SOCKET_NTHREADS of NCCL's"
              + " socket transport; 0 for one stream without helpers (${DEFAULT-VALUE}).")
  private int rivalThreads = 0;

  @Option(
      names = "--rival-sockets",
      paramLabel = "N",
      description = "Sockets per helper thread, like NCCL_NSOCKS_PERTHREAD (${DEFAULT-VALUE}).")
  private int rivalSockets = 1;

  @Option(
      names = "--plugin",
      paramLabel = "FILE",
      description = "Plugin to measure (the build's own).")
  private @Nullable Path plugin;

  @Option(
      names = "--rival",
      paramLabel = "FILE",
      description = "Plugin to compare with (the build's TCP plugin).")
  private @Nullable Path rival;

  @Option(
      names = "--driver",
      paramLabel = "FILE",
      hidden = true,
      description = "Program of the ranks.")
  private @Nullable Path driver;

  /**
   * Contestant of a measurement. Tables show the plugin's own name before {@code role}.
   *
   * @param onePlane whether the contestant uses one plane instead of all
   */
  record Entry(String role, Path plugin, boolean onePlane) {}

  /** Labs of the contestants: {@code narrow} is for contestants with one plane. */
  record Links(Lab lab, Lab narrow) {
    Lab of(Entry contestant) {
      return contestant.onePlane() ? narrow : lab;
    }
  }

  int mtu() {
    return mtu;
  }

  /**
   * Returns the contestants: the plugin over one plane, the plugin over all planes, and last the
   * rival.
   */
  List<Entry> entries(OptionRange range) {
    range.require("--planes", planes, 1, LabPlan.MAX_PLANES);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    range.require("--rival-threads", rivalThreads, 0, MOST_RIVAL_THREADS);
    if (rivalThreads == 0 && rivalSockets != 1) {
      throw range.refusal("--rival-sockets requires --rival-threads of 1 or more");
    }
    range.require(
        "--rival-sockets", rivalSockets, 1, MOST_RIVAL_SOCKETS / Math.max(1, rivalThreads));
    Path own = file(plugin, Installation.PLUGIN, "the plugin");
    List<Entry> contestants = new ArrayList<>(List.of(new Entry("1 plane", own, true)));
    if (planes > 1) {
      contestants.add(new Entry(planes + " planes", own, false));
    }
    contestants.add(
        new Entry(rivalRole(), file(rival, Installation.TCP_PLUGIN, "the TCP plugin"), true));
    return contestants;
  }

  String rivalRole() {
    return rivalThreads == 0
        ? "the rival"
        : "the rival, %s thread%s of %s socket%s"
            .formatted(
                rivalThreads,
                rivalThreads == 1 ? "" : "s",
                rivalSockets,
                rivalSockets == 1 ? "" : "s");
  }

  /** Returns the end of the names of ratios to the rival. */
  String overRival() {
    return rivalThreads == 0 ? " ÷ TCP" : " ÷ " + rivalThreads * rivalSockets + " sockets";
  }

  /**
   * Returns a suffix for the name of the report's files; empty unless the rival has helper threads.
   */
  String fileSuffix() {
    return rivalThreads == 0 ? "" : "-rival-" + rivalThreads + "x" + rivalSockets;
  }

  /** Returns the ranks' program: the one that the option names, or else the built one. */
  Path driver(Path built) {
    return file(driver, built, "the program of the ranks");
  }

  private static Path file(@Nullable Path given, Path built, String what) {
    return Installation.require(given == null ? Installation.part(built) : given, what);
  }

  Links links(Lab.Kind kind, int ranks, Cleanup cleanup) {
    Lab lab = cleanup.add(Labs.create(kind, new LabPlan(ranks, planes, mtu)));
    /*
     * On loopback addresses a plugin uses all planes of its lab, so one plane needs a separate lab.
     */
    Lab narrow = kind == Lab.Kind.LOOPBACK ? Labs.create(kind, new LabPlan(ranks, 1, mtu)) : lab;
    return new Links(lab, narrow);
  }

  Map<String, String> environment(Entry contestant, Lab.Kind kind) {
    Map<String, String> environment = new HashMap<>();
    environment.put("TCPREF_CONGESTION", congestion);
    environment.put("NCCL_SOCKET_NTHREADS", Integer.toString(rivalThreads));
    environment.put("NCCL_NSOCKS_PERTHREAD", Integer.toString(rivalSockets));
    if (contestant.onePlane() && kind != Lab.Kind.LOOPBACK) {
      environment.put("HEDDLE_PLANES", LabPlan.interfaceName(0) + "=1");
    }
    return environment;
  }
}
