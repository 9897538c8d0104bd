package io.heddle.verbs;

/**
 * What came of trying something on this host that makes a device faster where it works.
 *
 * @param sentence what was tried, and what came of it
 * @param remedy what would make it work; empty where it does, or where it couldn't be tried
 */
public record DeviceTrial(Verdict verdict, String sentence, String remedy) {
  /** What came of it. */
  public enum Verdict {
    /** As good as it gets. */
    WORKS,
    /** The device does without, and is slower. */
    SLOWER,
    /** It couldn't be tried, and the sentence says why. */
    UNTRIED
  }

  public static DeviceTrial works(String sentence) {
    return new DeviceTrial(Verdict.WORKS, sentence, "");
  }

  public static DeviceTrial slower(String sentence, String remedy) {
    return new DeviceTrial(Verdict.SLOWER, sentence, remedy);
  }

  public static DeviceTrial untried(String sentence) {
    return new DeviceTrial(Verdict.UNTRIED, sentence, "");
  }
}
