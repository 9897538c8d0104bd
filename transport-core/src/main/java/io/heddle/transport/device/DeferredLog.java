package io.heddle.transport.device;

import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;

/**
 * Log that keeps a candidate provider's info lines until the provider is chosen. If it is rejected
 * instead, the lines are the reasons, which the search joins into one sentence. Warnings pass at
 * once. After {@link #release} everything passes. Any thread.
 */
final class DeferredLog implements Log {
  private final Log log;
  private final List<String> kept = new ArrayList<>();
  private boolean isReleased;

  DeferredLog(Log log) {
    this.log = log;
  }

  @Override
  public synchronized void write(Level level, String sentence) {
    if (isReleased || level != Level.INFO) {
      log.write(level, sentence);
    } else {
      kept.add(sentence);
    }
  }

  synchronized List<String> sentences() {
    return List.copyOf(kept);
  }

  /** Writes the kept lines. Later lines pass at once. */
  synchronized void release() {
    isReleased = true;
    kept.forEach(sentence -> log.write(Level.INFO, sentence));
    kept.clear();
  }
}
