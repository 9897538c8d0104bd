package io.heddle.softdevice.faults;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Faults configured by {@code HEDDLE_SOFT_FAULTS}: {@code
 * loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01,ghost=0.001,send-loss=0.01,delay-us=200,ghost-ms=500,seed=7}.
 *
 * @param loss share of received packets that are lost; the next four parameters are shares of
 *     received packets too
 * @param ghost share of packets that are delivered only long after their retransmission
 * @param sendLoss share of sent packets that are dropped
 * @param delayUs delay of each packet, varied by up to a quarter
 * @param ghostMs delay of a ghost, varied by up to a quarter
 * @param seed seed of the generator
 */
public record Faults(
    double loss,
    double duplicate,
    double reorder,
    double corrupt,
    double ghost,
    double sendLoss,
    int delayUs,
    int ghostMs,
    long seed) {
  public static final String VARIABLE = "HEDDLE_SOFT_FAULTS";

  /** Allowed values, for error messages. The transport's option has the same text. */
  static final String ALLOWED =
      "loss, duplicate, reorder, corrupt, ghost (shares from 0 to 0.5, at most 1 together),"
          + " send-loss (a share from 0 to 0.5), delay-us (a whole number from 0 to 100000),"
          + " ghost-ms (a whole number from 1 to 10000) and seed (a whole number)";

  private static final double LARGEST_SHARE = 0.5;
  private static final int LONGEST_DELAY_US = 100_000;
  private static final int LONGEST_GHOST_MS = 10_000;
  private static final int USUAL_GHOST_MS = 500;
  /*
   * Number of shares, which are the first of NAMES. The last of them, send-loss, is a share of sent
   * packets, the others are shares of received packets.
   */
  private static final int SHARES = 6;
  private static final List<String> NAMES =
      List.of(
          "loss",
          "duplicate",
          "reorder",
          "corrupt",
          "ghost",
          "send-loss",
          "delay-us",
          "ghost-ms",
          "seed");

  /**
   * Parses the variable. Returns null for an unset or blank value.
   *
   * @throws HeddleException that names the invalid part
   */
  public static @Nullable Faults parse(@Nullable String value) {
    if (value == null || value.isBlank()) {
      return null;
    }
    double[] shares = new double[SHARES];
    int delayUs = 0;
    int ghostMs = USUAL_GHOST_MS;
    long seed = 1;
    for (String part : value.split(",", -1)) {
      int equals = part.indexOf('=');
      String name = (equals < 0 ? part : part.substring(0, equals)).strip();
      String text = equals < 0 ? "" : part.substring(equals + 1).strip();
      try {
        switch (NAMES.indexOf(name)) {
          case -1 -> throw refused(part, "did you mean " + NearestName.of(name, NAMES) + "?");
          case 6 -> delayUs = bounded(part, "delay", Integer.parseInt(text), 0, LONGEST_DELAY_US);
          case 7 -> ghostMs = bounded(part, "delay", Integer.parseInt(text), 1, LONGEST_GHOST_MS);
          case 8 -> seed = Long.parseLong(text);
          default -> shares[NAMES.indexOf(name)] = share(part, Double.parseDouble(text));
        }
      } catch (NumberFormatException notANumber) {
        throw refused(part, "the value isn't a number");
      }
    }
    double sum = java.util.Arrays.stream(shares, 0, SHARES - 1).sum();
    if (sum > 1) {
      throw refused(value, String.format(Locale.ROOT, "the shares make %.3f together", sum));
    }
    return new Faults(
        shares[0], shares[1], shares[2], shares[3], shares[4], shares[5], delayUs, ghostMs, seed);
  }

  private static double share(String part, double share) {
    if (!(share >= 0 && share <= LARGEST_SHARE)) {
      throw refused(part, "the share is outside 0 to 0.5");
    }
    return share;
  }

  private static int bounded(String part, String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw refused(part, "the " + what + " is outside " + least + " to " + most);
    }
    return value;
  }

  private static HeddleException refused(String part, String why) {
    return new HeddleException(
        "%s: \"%s\" is not understood: %s. Allowed are %s; example: loss=0.01,delay-us=200,seed=7"
            .formatted(VARIABLE, part, why, ALLOWED));
  }
}
