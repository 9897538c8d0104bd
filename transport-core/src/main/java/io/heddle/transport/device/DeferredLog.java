package io.heddle.transport.device;

import io.heddle.platform.Log;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps what a provider says until it is known whether the provider is taken, so that the reasons
 * against one become part of one sentence; warnings pass at once. After {@link #release} everything
 * passes. Any thread.
 */
final class DeferredLog implements Log {
  private final Log log;
  private final List<String> kept = new ArrayList<>();
  private boolean told;

  DeferredLog(Log log) {
    this.log = log;
  }

  @Override
  public synchronized void write(Level level, String sentence) {
    if (told || level != Level.INFO) {
      log.write(level, sentence);
    } else {
      kept.add(sentence);
    }
  }

  synchronized List<String> sentences() {
    return List.copyOf(kept);
  }

  /** Lets everything pass, what was kept first. */
  synchronized void release() {
    told = true;
    kept.forEach(sentence -> log.write(Level.INFO, sentence));
    kept.clear();
  }
}
