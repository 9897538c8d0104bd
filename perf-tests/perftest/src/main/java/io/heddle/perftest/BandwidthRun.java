package io.heddle.perftest;

import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;

/**
 * Loop of the bandwidth tests for one message size. It keeps every queue pair's window full, or
 * takes and reposts receives, or both. It uses only the calling thread, and {@link #run} allocates
 * nothing.
 */
final class BandwidthRun {
  private static final int POLL_BATCH = 16;
  private static final int INDEX_SHIFT = 40;
  private static final long COUNT_MASK = (1L << INDEX_SHIFT) - 1;

  private final TestQueues queues;
  private final Settings settings;
  private final RunGuard guard;
  private final DeviceContext context;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final WorkCompletion[] batch = WorkCompletion.batch(POLL_BATCH);
  private final RunFailure failure = new RunFailure();
  private final SampleWindow window;
  private final Distribution completionTimes = new Distribution();

  private final boolean sends;
  private final boolean receives;
  private final boolean byTime;
  private final int count;
  private final int sizeBytes;
  private final int postList;
  private final int sendDepth;
  private final int moderation;
  private final long iterations;
  private final long target;
  private final long strideBytes;
  private final int strides;

  private final QueuePair[] queuePairs;
  private final SendWorkRequest[][] chains;
  private final long[] posted;
  private final long[] signalledUpTo;
  private final long[] completed;
  private final long[] counted;
  private final long[][] postTimes;
  private final int postTimesMask;
  private final long[] peakPosted;
  private final long[] peakCompleted;
  private final long[] receivesPosted;
  private long totalPosted;
  private long totalCompleted;
  private long totalReceived;
  private boolean stopped;
  private long startNs;
  private long nowNs;

  BandwidthRun(TestQueues queues, Settings settings, long sizeBytes, RunGuard guard) {
    this.queues = queues;
    this.settings = settings;
    this.guard = guard;
    context = queues.context();
    sendQueue = queues.sendQueue();
    receiveQueue = queues.receiveQueue();
    Settings.Traffic traffic = settings.traffic();
    window = new SampleWindow(traffic);
    sends = settings.sends();
    receives = settings.receives();
    byTime = traffic.isTimed();
    count = queues.count();
    this.sizeBytes = Math.toIntExact(sizeBytes);
    postList = traffic.postList();
    sendDepth = traffic.sendDepth();
    moderation = traffic.moderation();
    iterations = traffic.iterations();
    target = iterations * count;
    strideBytes = queues.strideBytes(sizeBytes);
    strides = queues.strides(sizeBytes);
    queuePairs = new QueuePair[count];
    chains = new SendWorkRequest[count][postList];
    posted = new long[count];
    signalledUpTo = new long[count];
    completed = new long[count];
    counted = new long[count];
    receivesPosted = new long[count];
    int ring = Integer.highestOneBit(2 * sendDepth + 1);
    postTimes = new long[count][sends ? ring : 0];
    postTimesMask = ring - 1;
    boolean peak = sends && traffic.findPeak() && !byTime;
    peakPosted = new long[peak ? Math.toIntExact(target) : 0];
    peakCompleted = new long[peakPosted.length];
    for (int i = 0; i < count; i++) {
      queuePairs[i] = queues.queuePair(i);
      fillChain(chains[i], i);
    }
  }

  private void fillChain(SendWorkRequest[] chain, int index) {
    for (int i = 0; i < chain.length; i++) {
      SendWorkRequest request = new SendWorkRequest();
      request.operation = settings.kind().operation();
      request.lengthBytes = sizeBytes;
      request.lkey = queues.lkey();
      request.inline = queues.isInline(sizeBytes);
      request.rkey = queues.remote(index).rkey();
      chain[i] = request;
      if (i > 0) {
        chain[i - 1].next = request;
      }
    }
  }

  /** Posts the first receives. The peer may send only after this. */
  void postFirstReceives() {
    int depth = settings.traffic().receiveDepth();
    for (int i = 0; receives && i < count; i++) {
      for (int k = 0; k < depth && (byTime || receivesPosted[i] < iterations); k++) {
        postReceive(i);
      }
    }
    throwIfFailed();
  }

  private void postReceive(int index) {
    long place = queues.receivePiece(index) + receivesPosted[index] % strides * strideBytes;
    int answer = queuePairs[index].postReceive(index, place, sizeBytes, queues.lkey());
    if (answer == 0) {
      receivesPosted[index]++;
    } else {
      failure.post(answer, index, true);
    }
  }

  /**
   * Sends and receives until the test is over.
   *
   * @throws io.heddle.platform.HeddleException if a queue pair fails or the peer disconnects
   */
  void run() {
    nowNs = System.nanoTime();
    startNs = nowNs;
    if (sends) {
      window.start(nowNs);
    }
    loop();
    throwIfFailed();
  }

  private void loop() {
    while (!finished()) {
      int work = sends ? postAll() : 0;
      work += context.progress();
      work += sends ? pollSends() : 0;
      work += receives ? pollReceives() : 0;
      if (byTime) {
        nowNs = System.nanoTime();
        if (!stopped && window.isOver(nowNs)) {
          stopped = true;
          closeWindows();
        }
      }
      if (failure.hasOccurred() || !guard.mayContinue(work)) {
        return;
      }
    }
  }

  private boolean finished() {
    if (!byTime) {
      return (!sends || totalCompleted == target) && (!receives || totalReceived == target);
    }
    return stopped && (!waitsForSends() || totalCompleted == totalPosted);
  }

  /*
   * Returns whether a test with a duration waits for its last sends. It doesn't if both ends send:
   * each end then stops by its own clock, and an end that has stopped posts no more receives, so
   * the last sends might never complete.
   */
  private boolean waitsForSends() {
    return sends && !receives;
  }

  private int postAll() {
    long before = totalPosted;
    for (int i = 0; i < count && !stopped; i++) {
      while (posted[i] + postList - completed[i] <= sendDepth
          && (byTime || posted[i] < iterations)
          && !failure.hasOccurred()) {
        post(i, postList, false);
      }
    }
    return (int) (totalPosted - before);
  }

  private void post(int index, int messages, boolean signal) {
    SendWorkRequest[] chain = chains[index];
    long first = posted[index];
    long now = System.nanoTime();
    for (int i = 0; i < messages; i++) {
      SendWorkRequest request = chain[i];
      long number = first + i;
      long offset = number % strides * strideBytes;
      request.localAddress = queues.sendPiece(index) + offset;
      request.remoteAddress = queues.remote(index).address() + offset;
      request.signalled =
          signal || (number + 1) % moderation == 0 || !byTime && number + 1 == iterations;
      request.id = (long) index << INDEX_SHIFT | number + 1;
      if (request.signalled) {
        signalledUpTo[index] = number + 1;
      }
      postTimes[index][(int) number & postTimesMask] = now;
      if (peakPosted.length > 0) {
        peakPosted[(int) totalPosted + i] = now;
      }
    }
    int taken = queuePairs[index].postSend(chain[0]);
    if (taken != messages) {
      failure.post(taken, index, false);
      return;
    }
    posted[index] += messages;
    totalPosted += messages;
  }

  /* The last messages may be unsignalled, so one more signalled message completes them. */
  private void closeWindows() {
    for (int i = 0; waitsForSends() && i < count; i++) {
      if (posted[i] != signalledUpTo[i]) {
        SendWorkRequest only = chains[i][0];
        SendWorkRequest rest = only.next;
        only.next = null;
        post(i, 1, true);
        only.next = rest;
      }
    }
  }

  private int pollSends() {
    int taken = sendQueue.poll(batch);
    if (taken <= 0) {
      if (taken < 0) {
        failure.poll(taken);
      }
      return 0;
    }
    nowNs = System.nanoTime();
    boolean sampled = byTime && window.isSampling(nowNs);
    for (int i = 0; i < taken; i++) {
      WorkCompletion completion = batch[i];
      int index = (int) (completion.workRequestId >>> INDEX_SHIFT);
      if (completion.status != WorkCompletion.Status.SUCCESS) {
        failure.completion(completion.status, index, false);
        continue;
      }
      long upTo = completion.workRequestId & COUNT_MASK;
      long more = upTo - completed[index];
      completed[index] = upTo;
      for (long k = 0; k < more && peakCompleted.length > 0; k++) {
        peakCompleted[(int) (totalCompleted + k)] = nowNs;
      }
      totalCompleted += more;
      completionTimes.record(nowNs - postTimes[index][(int) (upTo - 1) & postTimesMask]);
      if (!byTime || sampled) {
        counted[index] += more;
      }
    }
    return taken;
  }

  private int pollReceives() {
    int taken = receiveQueue.poll(batch);
    if (taken <= 0) {
      if (taken < 0) {
        failure.poll(taken);
      }
      return 0;
    }
    nowNs = System.nanoTime();
    if (totalReceived == 0 && !sends) {
      startNs = nowNs;
    }
    window.start(nowNs);
    boolean sampled = byTime && window.isSampling(nowNs);
    for (int i = 0; i < taken; i++) {
      WorkCompletion completion = batch[i];
      int index = (int) completion.workRequestId;
      if (completion.status != WorkCompletion.Status.SUCCESS) {
        failure.completion(completion.status, index, true);
        continue;
      }
      totalReceived++;
      if (!sends && (!byTime || sampled)) {
        counted[index]++;
      }
      if (byTime || receivesPosted[index] < iterations) {
        postReceive(index);
      }
    }
    return taken;
  }

  private void throwIfFailed() {
    long done = sends ? totalCompleted : totalReceived;
    String progress = byTime ? done + " messages" : done + " of " + target + " messages";
    failure.throwIfAny(queues, guard, progress);
  }

  /** Returns the measurement, after {@link #run}. */
  BandwidthResult result() {
    long[] laneBytes = new long[queues.lanes().size()];
    long[] laneMessages = new long[laneBytes.length];
    long messages = 0;
    for (int i = 0; i < count; i++) {
      messages += counted[i];
      laneMessages[queues.laneOf(i)] += counted[i];
      laneBytes[queues.laneOf(i)] += counted[i] * sizeBytes;
    }
    double leastNs = PeakBandwidth.leastNsPerMessage(peakPosted, peakCompleted, peakPosted.length);
    long measuredNs = byTime ? window.measuredNs() : nowNs - startNs;
    return new BandwidthResult(
        sizeBytes,
        messages,
        measuredNs / 1e9,
        leastNs > 0 ? sizeBytes * 1e9 / leastNs : 0,
        laneBytes,
        laneMessages,
        completionTimes);
  }
}
