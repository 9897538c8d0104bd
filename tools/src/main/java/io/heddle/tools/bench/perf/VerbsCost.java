package io.heddle.tools.bench.perf;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.tools.bench.contest.Quantiles;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsProvider;
import io.heddle.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.IntToLongFunction;
import java.util.stream.LongStream;

/**
 * Program that measures the cost of posting and polling from Java, through the verbs API on the
 * libibverbs provider. It has the same cases as {@code verbs_cost.c} in perf-tests, which measures
 * them in C. For each line on standard input it runs one round: it prints a line {@code case
 * nanoseconds} for each case, and then {@code end}.
 */
final class VerbsCost {
  private static final int BATCH = 16;
  private static final int WRITE_BYTES = 8;
  private static final int GID_INDEX = 1;
  private static final int MEMORY_BYTES = 4096;
  private static final int DEPTH = 64;

  /*
   * Timers and retries as libibverbs encodes them. Their values don't matter here: the stand-in for
   * libibverbs loses and delays no packet.
   */
  private static final int RECEIVER_NOT_READY_TIMER = 12;
  private static final int TIMEOUT = 14;
  private static final int RETRIES = 7;
  private static final long ROUND_NS = 20_000_000;
  private static final int BATCH_CALLS = 64 * BATCH;
  private static final int MOST_BATCHES = 1 << 15;

  private final Arena arena = Arena.ofShared();
  private final CompletionQueue completionQueue;
  private final QueuePair near;
  private final MemoryRegion memory;
  private final SendWorkRequest[] requests = new SendWorkRequest[BATCH];
  private final long[] spent = new long[MOST_BATCHES];
  private final WorkCompletion[] completions = WorkCompletion.batch(BATCH);

  private VerbsCost(DeviceContext context) {
    Gid gid =
        context.gidTable().entries().stream()
            .filter(entry -> entry.index() == GID_INDEX)
            .map(GidTable.Entry::gid)
            .findFirst()
            .orElseThrow(() -> new HeddleException("the device has no GID " + GID_INDEX));
    ProtectionDomain domain = context.allocateProtectionDomain();
    completionQueue = context.createCompletionQueue(2 * DEPTH);
    near =
        domain.createQueuePair(new QueuePairAttributes(completionQueue, completionQueue, DEPTH, 1));
    QueuePair far =
        domain.createQueuePair(new QueuePairAttributes(completionQueue, completionQueue, DEPTH, 1));
    memory =
        domain.registerMemory(
            Memory.allocate(arena, MEMORY_BYTES, MEMORY_BYTES),
            MEMORY_BYTES,
            EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE, ProtectionDomain.Access.REMOTE_WRITE));
    near.initialise(GID_INDEX);
    far.initialise(GID_INDEX);
    connect(near, far, gid, context.port().activeMtu());
    connect(far, near, gid, context.port().activeMtu());
    for (int i = 0; i < BATCH; i++) {
      requests[i] = new SendWorkRequest();
    }
  }

  private static void connect(QueuePair pair, QueuePair peer, Gid gid, PathMtu mtu) {
    pair.readyToReceive(
        new ReadyToReceiveAttributes(
            mtu, gid, peer.number(), 0, peer.endpointParameters(), RECEIVER_NOT_READY_TIMER, 0, 0));
    pair.readyToSend(new ReadyToSendAttributes(0, TIMEOUT, RETRIES, RETRIES));
  }

  public static void main(String[] arguments) throws IOException {
    LeakLedger ledger = new LeakLedger();
    VerbsProvider provider =
        ServiceLoader.load(VerbsProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(each -> each.name().equals("libibverbs"))
            .findFirst()
            .orElseThrow(() -> new HeddleException("no provider named libibverbs"));
    List<RdmaDevice> devices = provider.devices(Map.of(), Log.toStandardError(), ledger);
    try (DeviceContext context = devices.getFirst().open()) {
      VerbsCost cost = new VerbsCost(context);
      BufferedReader orders =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (orders.readLine() != null) {
        cost.round();
      }
    }
  }

  private void round() {
    report("empty_poll", this::emptyPoll);
    report("single_post", this::singlePost);
    report("list_post", this::listPost);
    report("full_poll", this::fullPoll);
    report("post_and_poll", this::postAndPoll);
    System.out.println("end");
    System.out.flush();
  }

  /*
   * Prints the median time of a call over the batches, in ns. An interruption affects only some
   * batches.
   */
  private void report(String name, IntToLongFunction run) {
    int count = 0;
    for (long begin = System.nanoTime();
        count < spent.length && System.nanoTime() - begin < ROUND_NS; ) {
      spent[count++] = run.applyAsLong(BATCH_CALLS);
    }
    double median = Quantiles.of(LongStream.of(spent).limit(count).asDoubleStream()).nearest(0.5);
    System.out.printf(Locale.ROOT, "%s %.3f%n", name, median / BATCH_CALLS);
  }

  private void fillIn(int count, boolean signalled) {
    for (int i = 0; i < count; i++) {
      SendWorkRequest request = requests[i];
      request.id = i;
      request.next = i + 1 < count ? requests[i + 1] : null;
      request.operation = SendWorkRequest.Operation.RDMA_WRITE;
      request.signalled = signalled;
      request.localAddress = memory.address();
      request.lengthBytes = WRITE_BYTES;
      request.lkey = memory.lkey();
      request.remoteAddress = memory.address() + MEMORY_BYTES / 2;
      request.rkey = memory.rkey();
    }
  }

  private void post(int count) {
    int taken = near.postSend(requests[0]);
    if (taken != count) {
      throw new IllegalStateException("postSend accepted " + taken + " of " + count);
    }
  }

  private void take(int count) {
    for (int taken = 0; taken < count; ) {
      int found = completionQueue.poll(completions);
      for (int i = 0; i < found; i++) {
        if (completions[i].status != WorkCompletion.Status.SUCCESS) {
          throw new IllegalStateException(completions[i].status.name());
        }
      }
      taken += found;
    }
  }

  private long emptyPoll(int calls) {
    long begin = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      if (completionQueue.poll(completions) != 0) {
        throw new IllegalStateException("completion without a work request");
      }
    }
    return System.nanoTime() - begin;
  }

  private long singlePost(int calls) {
    long spent = 0;
    for (int done = 0; done < calls; done += BATCH) {
      long begin = System.nanoTime();
      for (int i = 0; i < BATCH; i++) {
        fillIn(1, i == BATCH - 1);
        post(1);
      }
      spent += System.nanoTime() - begin;
      take(1);
    }
    return spent;
  }

  private long listPost(int calls) {
    long spent = 0;
    for (int done = 0; done < calls; done += BATCH) {
      long begin = System.nanoTime();
      fillIn(BATCH, false);
      requests[BATCH - 1].signalled = true;
      post(BATCH);
      spent += System.nanoTime() - begin;
      take(1);
    }
    return spent;
  }

  private long fullPoll(int calls) {
    long spent = 0;
    for (int done = 0; done < calls; done += BATCH) {
      fillIn(BATCH, true);
      post(BATCH);
      long begin = System.nanoTime();
      take(BATCH);
      spent += System.nanoTime() - begin;
    }
    return spent;
  }

  private long postAndPoll(int calls) {
    long begin = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      fillIn(1, true);
      post(1);
      take(1);
    }
    return System.nanoTime() - begin;
  }
}
