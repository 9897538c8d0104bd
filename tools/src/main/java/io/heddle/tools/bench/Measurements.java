package io.heddle.tools.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Catalog of the project's measurements, in the order in which they run. */
final class Measurements {
  static final String PLUGIN = "plugin";
  static final String PLUGIN_1500 = "plugin-1500";
  static final String SOCKETS = "sockets";
  static final String FLOWS = "flows";
  static final String LATENCY = "latency";
  static final String ALL_REDUCE = "allreduce";
  static final String AMONG_THREADS = "among-threads";
  static final String SCALE = "scale";
  static final String STEPS = "steps";
  static final String ROUTES = "routes";
  static final String FABRIC = "fabric";
  static final String POLICIES = "policies";
  static final String PACKET = "packet";
  static final String FLOOD = "flood";
  static final String CALLS = "calls";
  static final String VERBS = "verbs";
  static final String ONE_SIDED = "one-sided";
  static final String STANDIN = "standin";
  static final String START = "start";
  static final String FAILOVER = "failover";
  static final String PATHS = "paths";
  static final String LAB_CHECK = "lab-check";
  static final String SWITCHING = "switching";
  static final String SWITCHING_RXE = "switching-rxe";
  static final String WAN = "wan";
  static final String SIMULATED_LAB = "simulated-lab";
  static final String HTSIM = "simulated-htsim";
  static final String SIMULATED = "simulated-100k";
  static final String CONTROL_PLANE = "simulated-routes";
  static final String BRIDGE_LATENCY = "bridge-latency";

  /** Suffix of the name of a measurement that is repeated with both of Java's compilers. */
  static final String BOTH = "-both";

  private static final String BANDWIDTHS = "--min-bytes 64K --max-bytes 4M";

  private Measurements() {}

  static List<Measurement> all() {
    List<Measurement> all = new ArrayList<>(besideTcp());
    all.addAll(allReduces());
    all.addAll(withBothCompilers());
    all.addAll(overFabrics());
    all.addAll(labAndSimulations());
    all.addAll(alone());
    all.addAll(processes());
    return all;
  }

  private static List<Measurement> besideTcp() {
    return List.of(
        new Measurement(
            PLUGIN,
            "bandwidth of the plugin beside kernel TCP, MTU 9000",
            words(
                "perf plugin --json --kinds bandwidth,duplex %s --rounds 7 --milliseconds 150",
                BANDWIDTHS),
            words(
                "perf plugin --json --kinds bandwidth,duplex %s --factor 4 --rounds 3"
                    + " --milliseconds 60",
                BANDWIDTHS),
            false,
            240,
            FigureReaders::plugin),
        new Measurement(
            PLUGIN_1500,
            "bandwidth of the plugin beside kernel TCP, MTU 1500",
            words(
                "perf plugin --json --mtu 1500 --kinds bandwidth %s --factor 4 --rounds 7"
                    + " --milliseconds 150",
                BANDWIDTHS),
            words(
                "perf plugin --json --mtu 1500 --kinds bandwidth %s --factor 16 --rounds 3"
                    + " --milliseconds 60",
                BANDWIDTHS),
            false,
            180,
            FigureReaders::plugin),
        /*
         * NCCL's socket transport chooses 2 helper threads with 8 sockets on Amazon's networks, and
         * 4 threads with one socket on Google's. The measurement uses the setting for Amazon's
         * networks, which has more sockets. It also has fewer threads, which is better where a rank
         * has one processor.
         */
        new Measurement(
            SOCKETS,
            "one plane beside sockets as NCCL uses them: 2 helper threads of 8, on the same cores",
            words(
                "perf plugin --json --planes 1 --rival-threads 2 --rival-sockets 8 --kinds"
                    + " bandwidth %s --rounds 7 --milliseconds 150",
                BANDWIDTHS),
            words(
                "perf plugin --json --planes 1 --rival-threads 2 --rival-sockets 8 --kinds"
                    + " bandwidth %s --factor 4 --rounds 3 --milliseconds 60",
                BANDWIDTHS),
            false,
            120,
            FigureReaders::sockets),
        new Measurement(
            FLOWS,
            "four flows beside four streams of kernel TCP",
            words(
                "perf plugin --json --flows 4 --kinds bandwidth --min-bytes 1M --max-bytes 4M"
                    + " --factor 4 --rounds 7 --milliseconds 200"),
            words(
                "perf plugin --json --flows 4 --kinds bandwidth --min-bytes 1M --max-bytes 1M"
                    + " --rounds 3 --milliseconds 100"),
            false,
            120,
            FigureReaders::plugin),
        new Measurement(
            LATENCY,
            "half round trip of 8 B beside kernel TCP",
            words(
                "perf plugin --json --kinds latency --min-bytes 8 --max-bytes 8 --rounds 9"
                    + " --milliseconds 200"),
            words(
                "perf plugin --json --kinds latency --min-bytes 8 --max-bytes 8 --rounds 3"
                    + " --milliseconds 100"),
            false,
            120,
            FigureReaders::plugin));
  }

  private static List<Measurement> allReduces() {
    return List.of(
        new Measurement(
            ALL_REDUCE,
            "ring all-reduce of two ranks beside kernel TCP",
            words(
                "perf allreduce --json --min-bytes 64K --max-bytes 16M --rounds 5 --iterations 10"),
            words("perf allreduce --json --min-bytes 1M --max-bytes 4M --rounds 2 --iterations 5"),
            false,
            240,
            FigureReaders::allReduce),
        new Measurement(
            AMONG_THREADS,
            "all-reduce among threads as NCCL has them, beside kernel TCP",
            words("perf among-threads --json --sizes 8,64K,1M,16M --rounds 9"),
            words("perf among-threads --json --sizes 8,64K --rounds 3"),
            false,
            180,
            FigureReaders::amongThreads));
  }

  /*
   * Returns the measurements that are repeated with both of Java's compilers, as on hosts with four
   * or more processors. Measurements that start a process for each round are left out: such a
   * process ends before all its code is compiled.
   */
  private static List<Measurement> withBothCompilers() {
    return besideTcp().stream()
        .map(each ->
            new Measurement(
                each.name() + BOTH,
                each.description() + ", with both of Java's compilers",
                withBothCompilers(each.full()),
                withBothCompilers(each.quick()),
                each.jsonFile(),
                each.limitSeconds(),
                each.reader()))
        .toList();
  }

  private static List<String> withBothCompilers(List<String> arguments) {
    List<String> all = new ArrayList<>(arguments);
    if (!all.contains("--planes")) {
      all.addAll(List.of("--planes", "1"));
    }
    all.addAll(List.of("--compilers", "both"));
    return all;
  }

  private static List<Measurement> overFabrics() {
    return List.of(
        new Measurement(
                FABRIC,
                "all-reduce over spines of unequal rates, weights from BGP, beside policy hash",
                words("demo --fabric --json --min-bytes 1M --max-bytes 16M"),
                words("demo --fabric --json --min-bytes 4M --max-bytes 4M --iterations 3"),
                false,
                180,
                FigureReaders::fabric)
            .requiring(Requirement.BIRD, Requirement.NFTABLES),
        new Measurement(
                PATHS,
                "paths of source ports: measured, predicted, fitted and picked, beside a lab's"
                    + " counters",
                words("paths check --json"),
                words("paths check --json"),
                false,
                240,
                FigureReaders::paths)
            .requiring(Requirement.BIRD, Requirement.NFTABLES),
        new Measurement(
            POLICIES,
            "every spray policy over planes that are equal, unequal, unequal but unannounced,"
                + " disturbed",
            words("perf policies --json --milliseconds 1500"),
            words("perf policies --json --rounds 1 --milliseconds 1000"),
            false,
            240,
            FigureReaders::policies),
        new Measurement(
                PACKET,
                "one queue pair over four planes beside one for each, without loss and with 0.1 %",
                words("perf packet --json"),
                words("perf packet --json --rounds 2"),
                false,
                120,
                FigureReaders::packet)
            .requiring(Requirement.NFTABLES),
        new Measurement(
                FAILOVER,
                "pause of all-reduces after loss of a plane, four kinds of loss",
                words("perf failover --json --rounds 4"),
                words("perf failover --json --rounds 1 --cases carrier,silent"),
                false,
                300,
                CostFigures::failover)
            .requiring(Requirement.BIRD, Requirement.NFTABLES));
  }

  private static List<Measurement> labAndSimulations() {
    List<String> simulated = words("simulate --json --gpus 100000 --round 4M");
    List<String> routes = words("simulate --json --control-plane --gpus 100000");
    return List.of(
        new Measurement(
                LAB_CHECK,
                "two tiers of switches that hash or spray, counted on every link",
                words("lab check --json"),
                words("lab check --json --switching spraylink"),
                false,
                120,
                FabricFigures::labCheck)
            .requiring(Requirement.BIRD, Requirement.NFTABLES, Requirement.BPF),
        new Measurement(
                SWITCHING,
                "policies over leaves that hash, spray or spray by load; one link at a quarter",
                words("perf switching --json --policies pinned,spray,packet,standard"),
                words(
                    "perf switching --json --rounds 1 --milliseconds 1000 --policies pinned,spray"),
                false,
                300,
                FabricFigures::switching)
            .requiring(Requirement.BIRD, Requirement.NFTABLES, Requirement.BPF),
        new Measurement(
                WAN,
                "gateways between data centres and their controller, each figure with its bound",
                words("demo --wan --whole --json"),
                words("demo --wan --json"),
                false,
                400,
                FabricFigures::wan)
            .requiring(Requirement.NFTABLES, Requirement.BPF, Requirement.OPENSSL),
        new Measurement(
                SIMULATED_LAB,
                "the simulated fabric beside the same lab measured",
                words("simulate --check lab --json"),
                words("simulate --check lab --json --lab-rounds 1"),
                false,
                240,
                FabricFigures::simulateCheck)
            .requiring(Requirement.BIRD, Requirement.NFTABLES, Requirement.BPF),
        new Measurement(
            HTSIM,
            "the simulated fabric beside figures of uet-htsim",
            words("simulate --check htsim --json"),
            words("simulate --check htsim --json"),
            false,
            60,
            FabricFigures::simulateCheck),
        new Measurement(
            SIMULATED,
            "a round of 4 MiB among 100,000 simulated GPUs",
            simulated,
            simulated,
            false,
            240,
            FabricFigures::simulate),
        new Measurement(
            CONTROL_PLANE,
            "routes of 100,000 simulated GPUs, counted and in real tables",
            routes,
            routes,
            false,
            120,
            FabricFigures::controlPlane),
        new Measurement(
                SWITCHING_RXE,
                "the kernel's own RDMA devices, in an emulated guest, over leaves that hash or"
                    + " spray",
                words("perf switching --json --policies rxe"),
                words("perf switching --json --policies rxe --switching hash,spraylink --rounds 1"),
                false,
                400,
                FabricFigures::switching)
            .requiring(Requirement.BIRD, Requirement.NFTABLES, Requirement.BPF));
  }

  private static List<Measurement> alone() {
    return List.of(
        new Measurement(
            FLOOD,
            "a job under 1,000,000 malformed packets a minute, and without them",
            words("perf flood --json"),
            words("perf flood --json --rounds 9"),
            false,
            120,
            CostFigures::flood),
        new Measurement(
            CALLS,
            "isend, irecv and test beside the same steps in C, on a device without cost",
            words("perf calls --json --rounds 15 --seconds 15"),
            words("perf calls --json --rounds 5 --seconds 3"),
            false,
            180,
            CostFigures::calls),
        new Measurement(
            VERBS,
            "posting and polling from Java beside C, on the stand-in for libibverbs",
            words("perf verbs --json"),
            words("perf verbs --json --rounds 7"),
            false,
            90,
            CostFigures::verbs),
        new Measurement(
            ONE_SIDED,
            "puts with signals beside messages of the net interface; all to all of 16 ranks",
            words("perf one-sided --json"),
            words("perf one-sided --json --rounds 3"),
            false,
            240,
            CostFigures::oneSided),
        new Measurement(
            STANDIN,
            "all-reduce over devices of the stand-in, beside one device",
            words("perf standin --json --min-bytes 64K --max-bytes 16M"),
            words("perf standin --json --rounds 1 --min-bytes 1M --max-bytes 4M"),
            false,
            120,
            FigureReaders::standin),
        new Measurement(
            BRIDGE_LATENCY,
            "latency that a bridge adds per packet, beside a forwarder in C and the kernel's"
                + " routing",
            words("bridge latency --json"),
            words("bridge latency --json --rounds 3"),
            false,
            120,
            BridgeFigures::latency));
  }

  private static List<Measurement> processes() {
    return List.of(
        new Measurement(
            SCALE,
            "cost of connections by number of connections, planes and ranks, beside kernel TCP",
            words("perf scale --json --rounds 1"),
            words(
                "perf scale --json --rounds 1 --connections 8,64 --planes 4 --ranks 2"
                    + " --idle-seconds 1"),
            false,
            400,
            CostFigures::scale),
        new Measurement(
            START,
            "start-up time of the plugin in a fresh process, and its resident memory",
            words("perf start --json"),
            words("perf start --json --rounds 3"),
            false,
            120,
            CostFigures::start),
        new Measurement(
            STEPS,
            "single steps by JMH: reorder window, route lookup, weight lookup",
            words("perf jmh -- Reorder RouteLookup Weight -wi 2 -w 1 -i 5 -r 1 -rf json -rff"),
            words("perf jmh -- Reorder RouteLookup Weight -wi 1 -w 1 -i 2 -r 1 -rf json -rff"),
            true,
            240,
            FigureReaders::jmh),
        new Measurement(
                ROUTES,
                "4 x 100,000 routes into the route daemon beside BIRD",
                words("perf bgp --json --rounds 1"),
                words("perf bgp --json --rounds 1 --sender bird --routes 20000"),
                false,
                180,
                FigureReaders::routes)
            .requiring(Requirement.BIRD));
  }

  private static List<String> words(String command, Object... arguments) {
    return List.of(String.format(Locale.ROOT, command, arguments).split(" "));
  }

  static Map<String, Measurement> byName() {
    Map<String, Measurement> byName = new LinkedHashMap<>();
    all().forEach(each -> byName.put(each.name(), each));
    return byName;
  }
}
