package io.heddle.platform;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Settings of a process, parsed once from its environment. They are immutable. */
public final class Options {
  private final Map<String, Object> values = new HashMap<>();
  private final List<String> remarks = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  /**
   * Parses the environment.
   *
   * @param known all options
   * @param foreign variables of other programs (such as NCCL_IB_*), each with a sentence on how
   *     Heddle treats it
   * @throws HeddleException for the first malformed value
   */
  public static Options parse(
      Map<String, String> environment, List<Option<?>> known, Map<String, String> foreign) {
    Options options = new Options();
    TreeSet<String> names = new TreeSet<>(foreign.keySet());
    for (Option<?> option : known) {
      names.add(option.name());
      String text = environment.get(option.name());
      Object value = option.parse(text == null || text.isBlank() ? option.defaultText() : text);
      options.values.put(option.name(), value);
      if (option.name().startsWith("NCCL_")
          && text != null
          && !text.isBlank()
          && value instanceof Long taken
          && isOther(text, taken)) {
        options.warnings.add(
            "%s=%s is taken as %s: allowed is %s"
                .formatted(option.name(), text, taken, option.range()));
      }
    }
    for (String name : new TreeSet<>(environment.keySet())) {
      if (foreign.containsKey(name)) {
        options.remarks.add(name + "=" + environment.get(name) + ": " + foreign.get(name));
      } else if ((name.startsWith("HEDDLE_") || name.startsWith("NCCL_IB_"))
          && !names.contains(name)) {
        options.remarks.add(
            name + " is not a setting; did you mean " + NearestName.of(name, names) + "?");
      }
    }
    return options;
  }

  /*
   * Returns whether Heddle's number for this text differs from NCCL's, or part of the text isn't a
   * number.
   */
  private static boolean isOther(String text, long taken) {
    return !NcclNumber.isWhole(text) || NcclNumber.parse(text, ~taken) != taken;
  }

  /** Returns the value of an option that was passed to {@link #parse}. */
  @SuppressWarnings("unchecked")
  public <T> T get(Option<T> option) {
    Object value = values.get(option.name());
    if (value == null) {
      throw new IllegalStateException(option.name() + " is not among the options of this process");
    }
    return (T) value;
  }

  /** Returns messages about variables of NCCL's whose values were replaced by substitutes. */
  public List<String> warnings() {
    return List.copyOf(warnings);
  }

  /** Returns messages about unknown variables and about those of other programs. */
  public List<String> remarks() {
    return List.copyOf(remarks);
  }
}
