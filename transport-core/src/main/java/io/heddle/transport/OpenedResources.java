package io.heddle.transport;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Stack of the resources that a transport's start has opened so far. If the start fails, they are
 * closed again. For one thread only.
 */
final class OpenedResources {
  private final Deque<Runnable> closings = new ArrayDeque<>();

  /** Adds the action that undoes the last step. */
  void onFailure(Runnable closing) {
    closings.push(closing);
  }

  /**
   * Undoes all steps, the last one first.
   *
   * @param cause reason of the failed start; exceptions of the undo are added as suppressed ones
   */
  void undo(Throwable cause) {
    for (Runnable closing : closings) {
      try {
        closing.run();
      } catch (RuntimeException | Error failure) {
        cause.addSuppressed(failure);
      }
    }
    closings.clear();
  }
}
