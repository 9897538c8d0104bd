package io.heddle.transport;

import java.util.ArrayDeque;
import java.util.Deque;

/** What a start has opened so far, closed again where it can't go on. One thread. */
final class OpenedResources {
  private final Deque<Runnable> closings = new ArrayDeque<>();

  /** This undoes the last step. */
  void onFailure(Runnable closing) {
    closings.push(closing);
  }

  /**
   * Undoes all steps, the last one first.
   *
   * @param cause why; what can't be undone is added to it
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
