package io.heddle.telemetry.gnmi;

import io.heddle.telemetry.proto.Path;
import io.heddle.telemetry.proto.PathElem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What can be subscribed to; lower elements of a path don't narrow it further. */
public enum ReportPath {
  LISTS("/gateway/lists"),
  ELEPHANTS("/gateway/elephants"),
  RULES("/gateway/rules"),
  INTERFACES("/interfaces");

  private final String text;

  ReportPath(String text) {
    this.text = text;
  }

  /** As people write it. */
  public String text() {
    return text;
  }

  /** As gNMI has it. */
  public Path path() {
    Path.Builder path = Path.newBuilder();
    for (String name : text.substring(1).split("/")) {
      path.addElem(PathElem.newBuilder().setName(name));
    }
    return path.build();
  }

  /**
   * What a subscription asks for; none where there is no such path. A path that is above several
   * asks for all of them.
   *
   * @param prefix of the subscription list
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

  /** As people write it, with its keys. */
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

  /** All of them, for people. */
  public static String all() {
    return Arrays.stream(values()).map(ReportPath::text).collect(Collectors.joining(", "));
  }
}
