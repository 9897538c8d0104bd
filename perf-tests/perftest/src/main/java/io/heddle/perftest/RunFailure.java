package io.heddle.perftest;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Reason why a loop stopped early. The loop only records the reason; the error message is made
 * after the loop. Only the loop's thread uses it.
 */
final class RunFailure {
  private WorkCompletion.@Nullable Status status;
  private int queuePair;
  private boolean receiving;
  private int postAnswer;
  private int pollAnswer;
  private boolean hasOccurred;

  boolean hasOccurred() {
    return hasOccurred;
  }

  /** Records a failed completion. The first failure is kept. */
  void completion(WorkCompletion.Status why, int index, boolean receive) {
    if (!hasOccurred) {
      hasOccurred = true;
      status = why;
      queuePair = index;
      receiving = receive;
    }
  }

  /** Records an incomplete post. */
  void post(int answer, int index, boolean receive) {
    if (!hasOccurred) {
      hasOccurred = true;
      postAnswer = answer;
      queuePair = index;
      receiving = receive;
    }
  }

  /** Records an error of a completion queue. */
  void poll(int answer) {
    if (!hasOccurred) {
      hasOccurred = true;
      pollAnswer = answer;
    }
  }

  /**
   * @param progress progress of the loop, such as "12 of 100 messages"
   * @throws HeddleException if a failure was recorded
   */
  void throwIfAny(TestQueues queues, RunGuard guard, String progress) {
    guard.throwIfStopped(progress);
    if (!hasOccurred) {
      return;
    }
    if (status != null) {
      throw new HeddleException(
          "%s failed with %s after %s%s"
              .formatted(
                  (receiving ? "a receive of " : "") + queues.describe(queuePair),
                  status,
                  progress,
                  Remedy.of(status)));
    }
    if (pollAnswer != 0) {
      throw new HeddleException(
          "a completion queue failed with %s after %s"
              .formatted(Errno.describe(-pollAnswer), progress));
    }
    throw new HeddleException(
        "%s accepted no more %s after %s: %s"
            .formatted(
                queues.describe(queuePair),
                receiving ? "receives" : "messages",
                progress,
                postAnswer < 0 ? Errno.describe(-postAnswer) : "its queue is full"));
  }
}
