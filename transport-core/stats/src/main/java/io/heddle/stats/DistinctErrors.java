package io.heddle.stats;

import io.heddle.platform.Log;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The warnings of this process, each distinct one once, with how often and when; everything passes
 * on to the log behind. Sentences that differ only in numbers are one, an address's port among
 * them: the first one's words are kept. Addresses, planes and interfaces tell sentences apart. Any
 * thread; never on the data path.
 */
public final class DistinctErrors implements Log {
  /** Compiled for the first warning, which most processes never write. */
  private static final class Numbers {
    /* Hexadecimal ones, ports behind addresses, and decimal ones that aren't a part of an address or a name. */
    static final Pattern PATTERN =
        Pattern.compile(
            "\\b0x[0-9a-fA-F]+|(?<=\\]:|\\.\\d{1,3}:)\\d+\\b"
                + "|(?<![\\w:.%/\\[-])\\d+(?:[.,]\\d+)?(?![\\w:%/]|[.-]\\w)");
  }

  private final Log log;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private @Nullable StatsFile file;
  private long lost;

  /** One sentence. */
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

  /** From now on the file shows what there is, what came before included. */
  public synchronized void showIn(StatsFile shown) {
    file = shown;
    int index = 0;
    for (Entry entry : entries.values()) {
      write(shown, index++, entry);
    }
    shown.setErrorsLost(lost);
  }

  /** The file ends. */
  public synchronized void hide() {
    file = null;
  }

  @Override
  public void write(Level level, String sentence) {
    if (level == Level.WARN) {
      count(sentence);
    }
    log.write(level, sentence);
  }

  /** What a sentence says, whatever numbers it has: sentences with the same words are one error. */
  public static String words(String sentence) {
    return Numbers.PATTERN.matcher(sentence).replaceAll("#");
  }

  private synchronized void count(String sentence) {
    String key = words(sentence);
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
