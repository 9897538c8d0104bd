package io.heddle.verbs;

/**
 * Result of trying a host feature that makes a device faster.
 *
 * @param sentence the feature and the result, as a sentence
 * @param remedy remedy that makes the feature work; empty if it works or couldn't be tried
 */
public record DeviceTrial(Verdict verdict, String sentence, String remedy) {
  /** Outcome of a trial. */
  public enum Verdict {
    /** The feature works. */
    WORKS,
    /** The feature is missing: the device works, but slower. */
    SLOWER,
    /** The trial couldn't run; the sentence says why. */
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
