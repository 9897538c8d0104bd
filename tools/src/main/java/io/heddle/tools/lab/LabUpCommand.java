package io.heddle.tools.lab;

import io.heddle.tools.switching.LabSwitches;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Command that creates a fabric, which stays until it is taken down. */
@Command(
    name = "up",
    description = {
      "Creates a fabric of real routers and waits until every plane has its own path.",
      "A leaf-spine fabric gives each host one port with an address per plane; the leaves announce"
          + " each prefix with its plane's colour, and with AIGP to the plane's own spine, so that"
          + " prefix i crosses spine i. With separate planes a host has a port on each, and its"
          + " leaf announces the plane's aggregate with its path bandwidth."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class LabUpCommand implements Callable<Integer> {
  private static final double GIGA = 1e9;

  /**
   * Ratio of announced bandwidth to the lab's rate. A lab's rates may be below 1 Gbit/s, but the
   * community counts whole Gbit/s.
   */
  private static final int ANNOUNCED_PER_RATE = 100;

  /** Converter of a shape's name on the command line. */
  static final class ShapeConverter implements ITypeConverter<FabricShape> {
    @Override
    public FabricShape convert(String text) {
      try {
        return FabricShape.named(text);
      } catch (IllegalArgumentException unknown) {
        throw new CommandLine.TypeConversionException(String.valueOf(unknown.getMessage()));
      }
    }
  }

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      defaultValue = "leaf-spine",
      converter = ShapeConverter.class,
      description = "leaf-spine or planes (${DEFAULT-VALUE}).")
  private FabricShape shape = FabricShape.LEAF_SPINE;

  @Option(
      names = "--spines",
      paramLabel = "N",
      defaultValue = "4",
      description = "Spines of a leaf-spine fabric (${DEFAULT-VALUE}).")
  private int spines;

  @Option(
      names = "--links",
      paramLabel = "N",
      defaultValue = "1",
      description = "Links between each leaf and each spine, a plane on each (${DEFAULT-VALUE}).")
  private int links;

  @Option(
      names = "--leaves",
      paramLabel = "N",
      defaultValue = "2",
      description = "Leaves of a leaf-spine fabric (${DEFAULT-VALUE}).")
  private int leaves;

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Number of separate planes, each with its own leaf (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--hosts",
      paramLabel = "N",
      defaultValue = "2",
      description = "Hosts, on the leaves in turn, or on every plane (${DEFAULT-VALUE}).")
  private int hosts;

  @Option(
      names = "--rates",
      split = ",",
      defaultValue = "1",
      paramLabel = "GBPS",
      description =
          "Rates of the links, Gbit/s: one for all, or one per spine or separate plane"
              + " (${DEFAULT-VALUE}).")
  private double[] rates = {1};

  @Option(
      names = "--bandwidths",
      split = ",",
      paramLabel = "GBPS",
      description =
          "Path bandwidths that BGP announces, whole Gbit/s, as many as --rates (100 times the"
              + " rate).")
  private int @Nullable [] bandwidths;

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      defaultValue = "9000",
      description = "MTU of links (${DEFAULT-VALUE}).")
  private int mtu;

  @Option(
      names = "--queue-ms",
      paramLabel = "MS",
      defaultValue = "100",
      description = "Queue of a shaped link, ms of its rate (${DEFAULT-VALUE}).")
  private int queueMs;

  @Option(
      names = "--hold",
      defaultValue = "9",
      paramLabel = "SECONDS",
      description = "BGP's hold time (${DEFAULT-VALUE}).")
  private int hold;

  @Option(
      names = "--bfd",
      defaultValue = "0",
      paramLabel = "MS",
      description =
          "Interval of BFD between leaves and spines; 0 for none (${DEFAULT-VALUE}). On a machine"
              + " without spare cores short intervals make sessions flap.")
  private int bfdMs;

  @Option(
      names = "--frr",
      description =
          "Run FRR on the last leaf: it peers by interface and accepts prefix ORF, but sends no"
              + " AIGP to hosts.")
  private boolean frr;

  @CommandLine.Mixin private final SwitchingOptions switching = new SwitchingOptions();

  @CommandLine.Mixin private final LabNameOption lab = new LabNameOption();

  @Override
  public Integer call() {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    FabricPlan plan = checkedPlan(line);
    FabricSwitching choosing = checkedSwitching(line, plan);
    if (choosing != null) {
      LabSwitches.refusal()
          .ifPresent(why -> {
            throw new LabException("switches can't balance load here: " + why);
          });
    }
    long began = System.nanoTime();
    Fabric fabric = Fabric.up(lab.name(), plan, 0);
    if (choosing != null) {
      switchOrRemove(fabric, choosing);
    }
    long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    PrintWriter out = line.getOut();
    out.print(LabReport.of(fabric.status()));
    out.println("up after " + tookMs + " ms; files in " + fabric.folder());
    out.println("a command on a host: " + String.join(" ", fabric.onHost(1, List.of("COMMAND"))));
    out.flush();
    return 0;
  }

  /**
   * Returns the settings of the switches' load balancing that the options describe; null for none.
   */
  @Nullable FabricSwitching checkedSwitching(CommandLine line, FabricPlan plan) {
    return switching.checked(line, plan);
  }

  /* Starts load balancing. Removes the fabric if that fails. */
  private static void switchOrRemove(Fabric fabric, FabricSwitching choosing) {
    try {
      fabric.switchInBackground(choosing);
    } catch (RuntimeException failed) {
      Fabric.down(fabric.name());
      throw failed;
    }
  }

  /** Returns the plan that the options describe; rejects contradictions. */
  FabricPlan checkedPlan(CommandLine line) {
    boolean separate = shape == FabricShape.PLANES;
    for (String other :
        separate ? List.of("--spines", "--links", "--leaves") : List.of("--planes")) {
      if (line.getParseResult().hasMatchedOption(other)) {
        throw LabCommand.usage(
            line,
            other
                + (separate
                    ? " is for --shape leaf-spine; with separate planes give --planes"
                    : " is for --shape planes; a leaf-spine fabric has a plane for each of"
                        + " --spines, times --links"));
      }
    }
    int groups = separate ? planes : spines;
    int linksEach = separate ? 1 : links;
    List<Double> perGroup = spread(line, rates, groups);
    List<Long> rateOfPlane = new ArrayList<>();
    List<Integer> bandwidthOfPlane = new ArrayList<>();
    int[] given = bandwidths;
    if (given != null && given.length != rates.length) {
      throw LabCommand.usage(
          line,
          "--bandwidths names " + given.length + " for " + rates.length + " --rates; give as many");
    }
    for (int group = 0; group < groups; group++) {
      double rate = perGroup.get(group);
      int announced = given == null ? announced(rate) : given[given.length == 1 ? 0 : group];
      rateOfPlane.addAll(Collections.nCopies(Math.max(linksEach, 0), bitsPerSecond(rate)));
      bandwidthOfPlane.addAll(Collections.nCopies(Math.max(linksEach, 0), announced));
    }
    try {
      return new FabricPlan(
          shape,
          separate ? 0 : spines,
          linksEach,
          separate ? planes : leaves,
          hosts,
          rateOfPlane,
          bandwidthOfPlane,
          mtu,
          queueMs,
          hold,
          bfdMs,
          frr);
    } catch (IllegalArgumentException outOfRange) {
      throw LabCommand.usage(line, String.valueOf(outOfRange.getMessage()));
    }
  }

  private List<Double> spread(CommandLine line, double[] given, int groups) {
    if (given.length != 1 && given.length != groups) {
      throw LabCommand.usage(
          line,
          "--rates names "
              + given.length
              + " rates for "
              + groups
              + (shape == FabricShape.PLANES ? " planes" : " spines")
              + "; give one for all, or one each");
    }
    List<Double> all = new ArrayList<>();
    for (int group = 0; group < groups; group++) {
      all.add(given[given.length == 1 ? 0 : group]);
    }
    return all;
  }

  public static long bitsPerSecond(double gbps) {
    return Math.round(gbps * GIGA);
  }

  /** Returns the path bandwidth that is announced for a rate by default, in Gbit/s. */
  public static int announced(double gbps) {
    return (int)
        Math.max(1, Math.min(Math.round(gbps * ANNOUNCED_PER_RATE), FabricPlan.MAX_BANDWIDTH_GBPS));
  }
}
