package io.heddle.transport.options;

import io.heddle.platform.NearestName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Selection of devices, in NCCL's syntax of {@code NCCL_IB_HCA}: {@code
 * [^][=]name[:port[:rail]],…}. A name selects all devices whose names begin with it. After {@code
 * =}, it selects only the device of exactly that name. {@code ^} selects all devices except those
 * in the list.
 *
 * @param text the variable's value; empty selects every device
 */
public record HcaSelection(
    String text, boolean excludes, boolean exact, List<Entry> entries, List<String> remarks) {
  static final String VARIABLE = "NCCL_IB_HCA";
  private static final int ANY = -1;
  private static final int MOST = 0x7fff;

  /**
   * One entry of the list.
   *
   * @param port number of the port, from 1; −1 for any
   * @param rail NCCL's number for the device's rail; −1 where unspecified
   */
  record Entry(String name, int port, int rail) {}

  public HcaSelection {
    entries = List.copyOf(entries);
    remarks = List.copyOf(remarks);
  }

  /** Parses the value; skips malformed entries and reports them in {@link #remarks}. */
  public static HcaSelection parse(String value) {
    String text = value.strip();
    boolean excludes = text.startsWith("^");
    String rest = excludes ? text.substring(1) : text;
    boolean exact = rest.startsWith("=");
    List<Entry> entries = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    for (String part :
        text.isEmpty() ? new String[0] : rest.substring(exact ? 1 : 0).split(",", -1)) {
      if (!part.isBlank()) { // a part is blank after a trailing comma, for example
        entry(text, part.strip(), remarks).ifPresent(entries::add);
      }
    }
    return new HcaSelection(text, excludes, exact, entries, remarks);
  }

  private static Optional<Entry> entry(String text, String part, List<String> remarks) {
    String[] fields = part.split(":", -1);
    /*
     * A fourth field, which names a plane, is ignored: each device of Heddle spans all of its
     * planes.
     */
    if (fields[0].isEmpty() || fields.length > 4) {
      remarks.add(
          malformed(text, part, fields[0].isEmpty() ? "it has no name" : "it has too many fields"));
      return Optional.empty();
    }
    OptionalInt port = fields.length > 1 ? number(fields[1], 1) : OptionalInt.of(ANY);
    OptionalInt rail = fields.length > 2 ? number(fields[2], 0) : OptionalInt.of(ANY);
    if (port.isEmpty() || rail.isEmpty()) {
      remarks.add(
          malformed(
              text,
              part,
              port.isEmpty()
                  ? "\"%s\" isn't a port from 1 to %s".formatted(fields[1], MOST)
                  : "\"%s\" isn't a rail from 0 to %s".formatted(fields[2], MOST)));
      return Optional.empty();
    }
    return Optional.of(new Entry(fields[0], port.getAsInt(), rail.getAsInt()));
  }

  private static OptionalInt number(String field, int least) {
    int number = field.matches("[0-9]{1,5}") ? Integer.parseInt(field) : -1;
    return number < least || number > MOST ? OptionalInt.empty() : OptionalInt.of(number);
  }

  private static String malformed(String text, String part, String why) {
    return ("%s=%s: part \"%s\" is not understood and is left out: %s; allowed are names such as"
            + " mlx5 (all that begin so), =mlx5_0:1 (exactly, port 1) and ^mlx5_2 (all but),"
            + " separated by commas")
        .formatted(VARIABLE, text, part, why);
  }

  /**
   * Returns whether a device is selected.
   *
   * @param device the provider's name of the device; {@code mlx5_0:2} is port 2 of mlx5_0
   * @param port number of the device's port
   */
  public boolean includes(String device, int port) {
    return entries.isEmpty() || matching(device, port).findAny().isPresent() != excludes;
  }

  /** Returns the rail that the operator assigned to the device; −1 for none. */
  public int rail(String device, int port) {
    return excludes ? ANY : matching(device, port).mapToInt(Entry::rail).findFirst().orElse(ANY);
  }

  private Stream<Entry> matching(String device, int port) {
    int colon = device.indexOf(':');
    String name = colon < 0 ? device : device.substring(0, colon);
    return entries.stream()
        .filter(entry -> exact ? name.equals(entry.name()) : name.startsWith(entry.name()))
        .filter(entry -> entry.port() == ANY || entry.port() == port);
  }

  /** Returns the reason why no device is selected, with the nearest existing name. */
  public String noneOf(List<String> devices) {
    String hint =
        entries.isEmpty() || excludes || devices.isEmpty()
            ? ""
            : "; did you mean " + NearestName.of(entries.getFirst().name(), devices) + "?";
    return "%s=%s selects none of the devices %s%s"
        .formatted(VARIABLE, text, String.join(", ", devices), hint);
  }
}
