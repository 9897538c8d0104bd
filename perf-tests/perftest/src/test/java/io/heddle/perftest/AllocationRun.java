package io.heddle.perftest;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.testing.TestShim;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.VerbsProvider;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Program in a process of its own, with the arguments {@code SPRAYS COMMAND}. It prints the number
 * of bytes that the last round of messages allocated. As in the plugin, its sockets' system calls
 * are in C.
 */
final class AllocationRun {
  private static final int MESSAGES = 3_000;
  private static final int MOST_ROUNDS = 60;
  /*
   * Limit of a round: enough for the JIT's bookkeeping and for code that runs for the first time.
   * One object per message would be 48,000 bytes.
   */
  static final long ALLOWED_BYTES = 8_192;

  private interface Loop {
    void run();
  }

  private AllocationRun() {}

  public static void main(String[] arguments) {
    TestShim.registerSocketCalls();
    System.out.println(measure(arguments[1], Boolean.parseBoolean(arguments[0])));
  }

  private static long allocatedBytes(Loop loop) {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    loop.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  /*
   * Runs a loop between queue pairs of one device until the JVM has compiled the loop. Returns the
   * number of bytes that the last round allocated.
   */
  private static long measure(String command, boolean sprays) {
    List<VerbsProvider> providers = new ArrayList<>();
    ServiceLoader.load(VerbsProvider.class).forEach(providers::add);
    Map<String, String> environment =
        Map.of("HEDDLE_PROVIDER", "soft", "HEDDLE_PLANES", "127.0.78.1=a");
    Settings settings =
        TwoEnds.command(command + " -n " + MESSAGES + " -u 20 127.0.0.1").settings();
    TestDevice.Source source =
        new TestDevice.Source(providers, environment, Log.toStandardError(), new LeakLedger());
    try (TestDevice device = TestDevice.open(settings.link(), source);
        TestQueues queues =
            new TestQueues(
                device.context(),
                settings,
                List.of(device.lane()),
                2,
                new PerftestDialogue.BufferRules(4096, 64))) {
      queues.setRemote(0, queues.own(1));
      queues.setRemote(1, queues.own(0));
      queues.connect(0, PathMtu.MTU_4096, queues.endpointParameters(1));
      queues.connect(1, PathMtu.MTU_4096, queues.endpointParameters(0));
      /*
       * Repeats rounds until the code is compiled: interpreted code allocates for method handles,
       * compiled code doesn't.
       */
      long allocated = Long.MAX_VALUE;
      for (int round = 0; round < MOST_ROUNDS && allocated >= ALLOWED_BYTES; round++) {
        Loop loop = sprays ? spray(queues, settings) : plain(queues, settings);
        allocated = allocatedBytes(loop);
      }
      return allocated;
    }
  }

  private static Loop plain(TestQueues queues, Settings settings) {
    BandwidthRun run =
        new BandwidthRun(
            queues,
            settings,
            settings.traffic().sizeBytes(),
            RunGuard.within(30_000_000_000L, IdlePolicy.ofSender()));
    run.postFirstReceives();
    return run::run;
  }

  private static Loop spray(TestQueues queues, Settings settings) {
    return new SprayRun(
            queues,
            settings,
            SprayPolicy.named("spray", 1),
            PlaneWeights.equal(1),
            PathMtu.MTU_4096,
            settings.traffic().sizeBytes(),
            RunGuard.within(30_000_000_000L, IdlePolicy.ofSender()))
        ::run;
  }
}
