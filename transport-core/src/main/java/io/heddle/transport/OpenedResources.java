package io.heddle.transport;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Stack of resources that a start has opened so far, closed again where the start fails. One
 * thread.
 */
final class OpenedResources {
  private final Deque<Runnable> closings = new ArrayDeque<>();

  /** Adds the undo action of the last step. */
  void onFailure(Runnable closing) {
    closings.push(closing);
  }

  /**
   * Undoes all steps, the last one first.
   *
   * @param cause the reason; failures to undo are added to it
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
