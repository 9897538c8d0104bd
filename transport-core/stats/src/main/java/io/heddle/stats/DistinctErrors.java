package io.heddle.stats;

import io.heddle.platform.Log;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Log of the distinct warnings of this process, with count and times of each; every message is
 * passed on to the next log. Sentences that differ only in numbers, ports included, are one
 * warning, shown by its first sentence. Addresses, planes and interfaces distinguish sentences.
 * Safe for use by any thread, but not made for the data path.
 */
public final class DistinctErrors implements Log {
  /**
   * Holder of the pattern. The class is loaded at the first warning, and most processes log none.
   */
  private static final class Numbers {
    /*
     * Hexadecimal numbers, ports after addresses, and decimal numbers that are no part of an
     * address or name.
     */
    static final Pattern PATTERN =
        Pattern.compile(
            "\\b0x[0-9a-fA-F]+|(?<=\\]:|\\.\\d{1,3}:)\\d+\\b"
                + "|(?<![\\w:.%/\\[-])\\d+(?:[.,]\\d+)?(?![\\w:%/]|[.-]\\w)");
  }

  private final Log log;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private @Nullable StatsFile file;
  private long lost;

  /** Distinct warning with its count and times. */
  private static final class Entry {
    final String sentence;
    final long firstMs;
    long count;
    long lastMs;

    Entry(String sentence, long firstMs) {
      this.sentence = sentence;
      this.firstMs = firstMs;
    }
  }

  public DistinctErrors(Log log) {
    this.log = log;
  }

  /** Shows all warnings in this file from now on, earlier ones included. */
  public synchronized void publishTo(StatsFile shown) {
    file = shown;
    int index = 0;
    for (Entry entry : entries.values()) {
      write(shown, index++, entry);
    }
    shown.setErrorsLost(lost);
  }

  /** Stops showing warnings in the file. */
  public synchronized void stopPublishing() {
    file = null;
  }

  @Override
  public void write(Level level, String sentence) {
    if (level == Level.WARN) {
      count(sentence);
    }
    log.write(level, sentence);
  }

  /**
   * Returns the sentence with its numbers replaced: sentences with equal results are one warning.
   */
  public static String withoutNumbers(String sentence) {
    return Numbers.PATTERN.matcher(sentence).replaceAll("#");
  }

  private synchronized void count(String sentence) {
    String key = withoutNumbers(sentence);
    long nowMs = System.currentTimeMillis();
    Entry entry = entries.get(key);
    StatsFile shown = file;
    if (entry == null) {
      if (entries.size() == StatsLayout.ERRORS) {
        lost++;
        if (shown != null) {
          shown.setErrorsLost(lost);
        }
        return;
      }
      entry = new Entry(sentence, nowMs);
      entries.put(key, entry);
    }
    entry.count++;
    entry.lastMs = nowMs;
    if (shown != null) {
      int index = 0;
      for (Entry each : entries.values()) {
        if (each == entry) {
          write(shown, index, entry);
        }
        index++;
      }
    }
  }

  private static void write(StatsFile shown, int index, Entry entry) {
    shown.setError(index, entry.sentence, entry.count, entry.firstMs, entry.lastMs);
  }
}
