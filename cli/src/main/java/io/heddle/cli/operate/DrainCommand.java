package io.heddle.cli.operate;

import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Json;
import io.heddle.cli.stat.StatsFolders;
import io.heddle.cli.stat.StatsOption;
import io.heddle.platform.HeddleException;
import io.heddle.stats.DrainOrders;
import io.heddle.stats.ProcessStats;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command {@code heddle drain}: takes planes out of use before maintenance, and back into use. */
@Command(
    name = "drain",
    description =
        "Makes every job of this host, running or started later, send and receive nothing new on a"
            + " plane, so that a cable or a switch can be replaced without a failover. Transfers in"
            + " flight complete. A job's last plane stays in use. Without a plane: lists the"
            + " drained ones.",
    mixinStandardHelpOptions = true,
    exitCodeList = {
      "0:Every job has drained the planes.",
      "1:Some jobs with the plane didn't drain it within two seconds."
    })
public final class DrainCommand implements Callable<Integer> {
  private static final long LIMIT_NS = 2_000_000_000;
  private static final String DRAINED = "drained";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "PLANE",
      arity = "0..*",
      description = "Plane keys, as shown by heddle stat and heddle planes.")
  private List<String> planes = List.of();

  @Option(names = "--end", description = "Take the planes back into use.")
  private boolean end;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  /**
   * Progress of the running jobs in draining one plane, or in using it again.
   *
   * @param plane key of the plane
   * @param drained whether the plane is ordered out of use
   * @param connections connections that have the plane, counted at each end on this host
   * @param drainedConnections number of these that start no new transfers on the plane
   * @param inFlightBytes bytes of these connections that are still in flight on the plane
   */
  record PlaneUse(
      String plane, boolean drained, int connections, int drainedConnections, long inFlightBytes) {}

  /**
   * The whole document.
   *
   * @param planes drained planes, or those that the command names
   */
  record Document(List<PlaneUse> planes) {}

  @Override
  public Integer call() throws InterruptedException {
    StatsFolders folders = stats.folders().ofOwnJobs();
    if (folders.folders().isEmpty()) {
      throw new HeddleException(
          "no job that this user may control has run on this host: there is no such folder"
              + " in /dev/shm/heddle-*; --stats names another folder");
    }
    Set<String> ordered = ordered(folders);
    if (end && planes.isEmpty()) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          "--end requires a plane; drained are " + named(ordered));
    }
    refuseUnknown(folders, ordered);
    Map<Path, Set<String>> changes = changes(folders);
    for (Path folder : changes.keySet()) {
      if (!Files.isWritable(folder)) {
        throw new HeddleException(
            "this user may not drain planes of the jobs in "
                + folder
                + ", so nothing was changed: run it as root, or name the folder of your own jobs"
                + " with --stats");
      }
    }
    changes.forEach((folder, keys) -> DrainOrders.in(folder).write(keys));
    return report(folders);
  }

  /* Returns the folders whose set of drained planes changes, each with its new set. */
  private Map<Path, Set<String>> changes(StatsFolders folders) {
    Map<Path, Set<String>> changes = new LinkedHashMap<>();
    for (Path folder : folders.folders()) {
      Set<String> keys = new TreeSet<>(DrainOrders.in(folder).keys());
      if (end ? keys.removeAll(planes) : keys.addAll(planes)) {
        changes.put(folder, keys);
      }
    }
    return changes;
  }

  private static String named(Set<String> keys) {
    return keys.isEmpty() ? "none" : String.join(", ", keys);
  }

  private static Set<String> ordered(StatsFolders folders) {
    Set<String> ordered = new TreeSet<>();
    folders.folders().forEach(folder -> ordered.addAll(DrainOrders.in(folder).keys()));
    return ordered;
  }

  private static List<ProcessStats.Row> openRows(StatsFolders folders) {
    return folders.read(null).processes().stream()
        .flatMap(process -> process.rows().stream())
        .filter(ProcessStats.Row::open)
        .toList();
  }

  private void refuseUnknown(StatsFolders folders, Set<String> ordered) {
    Set<String> known = new TreeSet<>(ordered);
    openRows(folders).forEach(row -> known.add(row.planeKey()));
    for (String plane : planes) {
      if (!known.contains(plane)) {
        throw new HeddleException(
            "no running job has a plane %s; there are: %s".formatted(plane, named(known)));
      }
    }
  }

  private int report(StatsFolders folders) throws InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NS;
    List<PlaneUse> uses = uses(folders);
    while (!uses.stream().allMatch(DrainCommand::isDone) && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(50);
      uses = uses(folders);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    if (json) {
      out.println(Json.of(new Document(uses)));
    } else {
      uses.forEach(use ->
          out.printf(
              "plane %s: %s; %s of %s connections use it for nothing new, %s bytes in flight%n",
              use.plane(),
              use.drained() ? DRAINED : "in use",
              use.drainedConnections(),
              use.connections(),
              use.inFlightBytes()));
      if (uses.isEmpty()) {
        out.println("no plane is drained");
      }
    }
    out.flush();
    return uses.stream().allMatch(DrainCommand::isDone) ? 0 : ExitCode.FAILED;
  }

  private static boolean isDone(PlaneUse use) {
    return use.drained()
        ? use.drainedConnections() == use.connections() && use.inFlightBytes() == 0
        : use.drainedConnections() == 0;
  }

  private List<PlaneUse> uses(StatsFolders folders) {
    Set<String> ordered = ordered(folders);
    Set<String> shown = new TreeSet<>(planes.isEmpty() ? ordered : planes);
    List<ProcessStats.Row> rows = openRows(folders);
    List<PlaneUse> uses = new ArrayList<>();
    for (String plane : shown) {
      List<ProcessStats.Row> of =
          rows.stream().filter(row -> row.planeKey().equals(plane)).toList();
      List<ProcessStats.Row> following =
          of.stream().filter(row -> row.weightSource().equals(DRAINED)).toList();
      uses.add(
          new PlaneUse(
              plane,
              ordered.contains(plane),
              of.size(),
              following.size(),
              of.stream().mapToLong(ProcessStats.Row::inFlightBytes).sum()));
    }
    return uses;
  }
}
