package io.heddle.tools.soak;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Test bench of a soak: a network and a pair of processes that execute runs. The runs of a group
 * share the pair until one of them fails.
 */
final class ChaosBench implements AutoCloseable {
  private final LongFunction<ChaosPlan> plans;
  private final Function<ChaosSetting, ChaosNetwork> networks;
  private final boolean keepsNetwork;
  private final ChaosPair.Programs programs;
  private final Path folder;
  private @Nullable ChaosNetwork network;
  private @Nullable ChaosPair pair;
  private @Nullable ChaosSetting setting;
  private int pairs;

  /**
   * Creates a bench.
   *
   * @param plans returns the plan of a seed
   * @param networks creates the network of a setting
   * @param keepsNetwork whether one network serves all groups; otherwise each group has its own
   */
  ChaosBench(
      LongFunction<ChaosPlan> plans,
      Function<ChaosSetting, ChaosNetwork> networks,
      boolean keepsNetwork,
      ChaosPair.Programs programs,
      Path folder) {
    this.plans = plans;
    this.networks = networks;
    this.keepsNetwork = keepsNetwork;
    this.programs = programs;
    this.folder = folder;
  }

  ChaosPlan plan(long seed) {
    return plans.apply(seed);
  }

  /**
   * Executes a plan and returns the verdict. The last run of a group also checks that the processes
   * end cleanly.
   */
  ChaosVerdict run(ChaosPlan plan, boolean last) throws IOException, InterruptedException {
    if (!plan.setting().equals(setting)) {
      closePair();
    }
    ChaosNetwork on = network(plan.setting());
    on.settle();
    ChaosPair ranks = pair(plan.setting(), on);
    ChaosRun run = new ChaosRun(plan, on, ranks);
    ChaosVerdict verdict = run.run();
    if (!verdict.isGood()) {
      closePair();
      return verdict;
    }
    if (last || plans.apply(plan.seed() + 1).setting().group() != plan.setting().group()) {
      String trouble = run.killedRank() >= 0 ? null : ranks.finish();
      closePair();
      return trouble == null ? verdict : verdict.withKind(ChaosVerdict.Kind.FAILED, trouble);
    }
    if (run.killedRank() >= 0) {
      ranks.replace(run.killedRank());
    }
    return verdict;
  }

  /** Returns the folder of the last run's processes. */
  Path pairFolder() {
    return folder.resolve("pair-" + pairs);
  }

  private synchronized ChaosNetwork network(ChaosSetting of) {
    ChaosNetwork there = network;
    if (there == null) {
      there = networks.apply(of);
      network = there;
    }
    return there;
  }

  private synchronized ChaosPair pair(ChaosSetting of, ChaosNetwork on) throws IOException {
    ChaosPair there = pair;
    if (there == null) {
      pairs++;
      there = new ChaosPair(on, of, programs, pairFolder());
      pair = there;
      setting = of;
    }
    return there;
  }

  private synchronized void closePair() {
    ChaosPair ranks = pair;
    if (ranks != null) {
      ranks.close();
    }
    pair = null;
    setting = null;
    if (!keepsNetwork) {
      closeNetwork();
    }
  }

  private void closeNetwork() {
    ChaosNetwork there = network;
    network = null;
    if (there != null) {
      there.close();
    }
  }

  @Override
  public synchronized void close() {
    closePair();
    closeNetwork();
  }
}
