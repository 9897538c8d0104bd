package io.heddle.softdevice.queue;

import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.transport.SendQueue;
import io.heddle.softdevice.io.AsyncEvent;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Jcstress tests, one for each hand-off of the soft device; {@link HandOffTest} runs them. */
final class HandOffStress {
  private static final int DEPTH = 2;

  private HandOffStress() {}

  private static WorkCompletion[] oneCompletion() {
    return new WorkCompletion[] {new WorkCompletion()};
  }

  private static SendWorkRequest request(int number) {
    SendWorkRequest request = new SendWorkRequest();
    request.id = number;
    request.lengthBytes = number;
    return request;
  }

  /* Creates a queue whose context is null, since push and poll don't access it. */
  @SuppressWarnings("NullAway")
  private static SoftCompletionQueue completionQueue(QueueMemory memory) {
    return new SoftCompletionQueue(null, DEPTH, memory.address(), closing -> {});
  }

  /** Memory of a queue, for the duration of its test. */
  private static final class QueueMemory {
    private final MemorySegment memory = Arena.ofAuto().allocate(64 * DEPTH, 64);

    long address() {
      return memory.address();
    }
  }

  private static void push(SoftCompletionQueue queue, int number) {
    queue.push(number, WorkCompletion.Status.SUCCESS, WorkCompletion.Kind.SEND, number, false, 0);
  }

  /** Lock holder → poller: the poller sees only whole completions. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 0", "7, 7"},
      expect = Expect.ACCEPTABLE,
      desc = "not yet, or whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn completion")
  public static class CompletionSeenWhole {
    private final QueueMemory memory = new QueueMemory();
    private final SoftCompletionQueue queue = completionQueue(memory);
    private final WorkCompletion[] seen = oneCompletion();

    @Actor
    public void device() {
      push(queue, 7);
    }

    @Actor
    public void poller(JJ_Result result) {
      if (queue.poll(seen) == 1) {
        result.r1 = seen[0].workRequestId;
        result.r2 = seen[0].lengthBytes;
      }
    }
  }

  /** Poller → lock holder: a completion's entry is not overwritten while it is read. */
  @JCStressTest
  @State
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the oldest, whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten while it was read")
  public static class CompletionRowReused {
    private final QueueMemory memory = new QueueMemory();
    private final SoftCompletionQueue queue = completionQueue(memory);
    private final WorkCompletion[] seen = oneCompletion();

    public CompletionRowReused() {
      push(queue, 1);
      push(queue, 2);
    }

    @Actor
    public void device() {
      push(queue, 3);
    }

    @Actor
    public void poller(JJ_Result result) {
      queue.poll(seen);
      result.r1 = seen[0].workRequestId;
      result.r2 = seen[0].lengthBytes;
    }
  }

  /** Poster → lock holder: the holder sees only whole requests. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 0", "7, 7"},
      expect = Expect.ACCEPTABLE,
      desc = "not yet, or whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn request")
  public static class SendSeenWhole {
    private final QueueMemory memory = new QueueMemory();
    private final SendQueue queue = new SendQueue(DEPTH, memory.address());
    private final SendWorkRequest request = request(7);

    @Actor
    public void poster() {
      queue.post(request);
    }

    @Actor
    public void device(JJ_Result result) {
      if (queue.posted() == 1) {
        result.r1 = queue.id(0);
        result.r2 = queue.lengthBytes(0);
      }
    }
  }

  /** Lock holder → poster: a request's entry is not refilled before its last read. */
  @JCStressTest
  @State
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the oldest, whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten before it was completed")
  public static class SendRowReused {
    private final QueueMemory memory = new QueueMemory();
    private final SendQueue queue = new SendQueue(DEPTH, memory.address());
    private final SendWorkRequest request = request(3);

    public SendRowReused() {
      queue.post(request(1));
      queue.post(request(2));
    }

    @Actor
    public void poster() {
      queue.post(request);
    }

    @Actor
    public void device(JJ_Result result) {
      result.r1 = queue.id(0);
      result.r2 = queue.lengthBytes(0);
      queue.complete();
    }
  }

  /** Poster → lock holder: the holder sees only whole receives. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 0", "7, 7"},
      expect = Expect.ACCEPTABLE,
      desc = "not yet, or whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn receive")
  public static class ReceiveSeenWhole {
    private final QueueMemory memory = new QueueMemory();
    private final ReceiveQueue queue = new ReceiveQueue(DEPTH, memory.address());

    @Actor
    public void poster() {
      queue.post(7, 0, 7, 0, 1);
    }

    @Actor
    public void device(JJ_Result result) {
      if (!queue.isEmpty()) {
        result.r1 = queue.id();
        result.r2 = queue.lengthBytes();
      }
    }
  }

  /** Lock holder → poster: a receive's entry is not refilled before its last read. */
  @JCStressTest
  @State
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the oldest, whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "overwritten before it was taken")
  public static class ReceiveRowReused {
    private final QueueMemory memory = new QueueMemory();
    private final ReceiveQueue queue = new ReceiveQueue(DEPTH, memory.address());

    public ReceiveRowReused() {
      queue.post(1, 0, 1, 0, 1);
      queue.post(2, 0, 2, 0, 1);
    }

    @Actor
    public void poster() {
      queue.post(3, 0, 3, 0, 1);
    }

    @Actor
    public void device(JJ_Result result) {
      result.r1 = queue.id();
      result.r2 = queue.lengthBytes();
      queue.take();
    }
  }

  /** The doorbell of a post that the lock's holder missed remains set. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 1", "1, 0", "1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "seen now, or the doorbell is set")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a lost post")
  public static class BellAfterPost {
    private final QueueMemory memory = new QueueMemory();
    private final SendQueue queue = new SendQueue(DEPTH, memory.address());
    private final Doorbells doorbells = new Doorbells(64);
    private final SendWorkRequest request = request(7);

    @Actor
    public void poster() {
      queue.post(request);
      doorbells.ring(5);
    }

    @Actor
    public void device(II_Result result) {
      doorbells.take(0);
      result.r1 = queue.posted() == 1 ? 1 : 0;
    }

    @Arbiter
    public void later(II_Result result) {
      result.r2 = doorbells.take(0) != 0 ? 1 : 0;
    }
  }

  /** The lock's holder sees the doorbell of a poster whose tryLock failed. */
  @JCStressTest
  @State
  @Outcome(
      id = {"0, 1", "1, 0", "1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "one of them serves it")
  @Outcome(expect = Expect.FORBIDDEN, desc = "served by neither")
  public static class BellAfterFailedTry {
    private final ProgressLock lock = new ProgressLock();
    private final Doorbells doorbells = new Doorbells(64);

    public BellAfterFailedTry() {
      lock.lock();
    }

    @Actor
    public void poster(II_Result result) {
      doorbells.ring(5);
      result.r1 = lock.tryLock() ? 1 : 0;
    }

    @Actor
    public void holder(II_Result result) {
      lock.unlock();
      result.r2 = doorbells.isAnyRung(1) ? 1 : 0;
    }
  }

  /** The progress lock keeps plain state consistent. */
  @JCStressTest
  @State
  @Outcome(
      id = {"1, 1, 2", "1, 0, 1", "0, 1, 1"},
      expect = Expect.ACCEPTABLE,
      desc = "each holder is counted")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two at a time, or none")
  public static class LockExcludes {
    private final ProgressLock lock = new ProgressLock();
    private int entered;

    private int enter() {
      if (!lock.tryLock()) {
        return 0;
      }
      entered++;
      lock.unlock();
      return 1;
    }

    @Actor
    public void first(III_Result result) {
      result.r1 = enter();
    }

    @Actor
    public void second(III_Result result) {
      result.r2 = enter();
    }

    @Arbiter
    public void later(III_Result result) {
      result.r3 = entered;
    }
  }

  /** Lock holder → control thread: the control thread sees only whole events. */
  @JCStressTest
  @State
  @Outcome(
      id = {"-1, 0", "1, 7"},
      expect = Expect.ACCEPTABLE,
      desc = "not yet, or whole")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a torn event")
  public static class EventSeenWhole {
    private static final AsyncEventListener.Kind SECOND = AsyncEventListener.Kind.values()[1];
    private final Queue<AsyncEvent> events = AsyncEvent.queue();

    @Actor
    public void device() {
      events.offer(new AsyncEvent(SECOND, 7));
    }

    @Actor
    public void control(II_Result result) {
      result.r1 = -1;
      AsyncEvent event = events.poll();
      if (event != null) {
        result.r1 = event.kind().ordinal();
        result.r2 = event.queuePairNumber();
      }
    }
  }
}
