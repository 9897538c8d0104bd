package io.heddle.telemetry.gnmi;

import io.heddle.telemetry.proto.Path;
import io.heddle.telemetry.proto.PathElem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Path to which a client can subscribe. Only whole paths can be subscribed to, not parts of them.
 */
public enum ReportPath {
  LISTS("/gateway/lists"),
  ELEPHANTS("/gateway/elephants"),
  RULES("/gateway/rules"),
  INTERFACES("/interfaces");

  private final String text;

  ReportPath(String text) {
    this.text = text;
  }

  /** Returns the path as text. */
  public String text() {
    return text;
  }

  /** Returns the path as a gNMI message. */
  public Path path() {
    Path.Builder path = Path.newBuilder();
    for (String name : text.substring(1).split("/")) {
      path.addElem(PathElem.newBuilder().setName(name));
    }
    return path.build();
  }

  /**
   * Returns the paths that a subscription covers; none if its path is unknown. A subscription to a
   * parent path covers all paths below the parent.
   *
   * @param prefix prefix of the subscription list
   * @param path path of the subscription
   */
  public static List<ReportPath> under(Path prefix, Path path) {
    String asked = names(prefix) + names(path);
    List<ReportPath> found = new ArrayList<>();
    for (ReportPath each : values()) {
      if ((each.text + "/").startsWith(asked + "/")) {
        found.add(each);
      }
    }
    return found;
  }

  private static String names(Path path) {
    return path.getElemList().stream()
        .map(each -> "/" + each.getName().substring(each.getName().indexOf(':') + 1))
        .collect(Collectors.joining());
  }

  /** Returns a gNMI path as text, with its keys. */
  public static String text(Path path) {
    return path.getElemList().isEmpty()
        ? "/"
        : path.getElemList().stream()
            .map(each ->
                "/"
                    + each.getName()
                    + each.getKeyMap().entrySet().stream()
                        .map(key -> "[" + key.getKey() + "=" + key.getValue() + "]")
                        .collect(Collectors.joining()))
            .collect(Collectors.joining());
  }

  /** Returns all paths as text, for messages. */
  public static String all() {
    return Arrays.stream(values()).map(ReportPath::text).collect(Collectors.joining(", "));
  }
}
