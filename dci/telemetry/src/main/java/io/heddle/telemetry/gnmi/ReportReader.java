package io.heddle.telemetry.gnmi;

import io.heddle.telemetry.proto.Notification;
import io.heddle.telemetry.proto.Path;
import io.heddle.telemetry.proto.PathElem;
import io.heddle.telemetry.proto.TypedValue;
import io.heddle.telemetry.proto.Update;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Notifications to reports. What a peer sends may be anything: a fault is a value to tell of. */
public final class ReportReader {
  private static final String OUT_OCTETS = "out-octets";

  private ReportReader() {}

  /** What a notification says. */
  public sealed interface Heard {
    /** All lists of a gateway. */
    record Lists(List<ListReport> lists) implements Heard {}

    /** All elephants of a gateway. */
    record Elephants(List<ElephantReport> elephants) implements Heard {}

    /** All rules of a gateway. */
    record Rules(List<RuleReport> rules) implements Heard {}

    /**
     * Counters of some interfaces.
     *
     * @param timestampNs when they were read, by the sender's clock
     */
    record Counters(List<InterfaceReport> counters, long timestampNs) implements Heard {}

    /** It can't be read. */
    record Malformed(String why) implements Heard {}
  }

  public static Heard read(Notification notification) {
    String under = ReportPath.text(notification.getPrefix());
    try {
      if (under.equals(ReportPath.LISTS.text())) {
        return new Heard.Lists(values(notification, ListReport.class));
      }
      if (under.equals(ReportPath.ELEPHANTS.text())) {
        return new Heard.Elephants(values(notification, ElephantReport.class));
      }
      if (under.equals(ReportPath.RULES.text())) {
        return new Heard.Rules(values(notification, RuleReport.class));
      }
      return counters(notification);
    } catch (IOException | IllegalArgumentException malformed) {
      return new Heard.Malformed(under + ": " + malformed.getMessage());
    }
  }

  private static <T> List<T> values(Notification notification, Class<T> type) throws IOException {
    List<T> all = new ArrayList<>(notification.getUpdateCount());
    for (Update each : notification.getUpdateList()) {
      T value = YangJson.MAPPER.readValue(json(each.getVal()), type);
      if (value == null) {
        throw new IOException("null at " + ReportPath.text(each.getPath()));
      }
      all.add(value);
    }
    return all;
  }

  private static byte[] json(TypedValue value) throws IOException {
    return switch (value.getValueCase()) {
      case JSON_VAL -> value.getJsonVal().toByteArray();
      case JSON_IETF_VAL -> value.getJsonIetfVal().toByteArray();
      default -> throw new IOException("the value is " + value.getValueCase() + ", not JSON");
    };
  }

  /* Routers send them one by one, under any prefix, and as JSON or not. */
  private static Heard counters(Notification notification) throws IOException {
    List<InterfaceReport> counters = new ArrayList<>();
    for (Update each : notification.getUpdateList()) {
      Path path =
          Path.newBuilder()
              .addAllElem(notification.getPrefix().getElemList())
              .addAllElem(each.getPath().getElemList())
              .build();
      List<PathElem> elements = path.getElemList();
      String name =
          elements.stream()
              .filter(element -> element.getName().equals("interface"))
              .map(element -> element.getKeyOrDefault("name", ""))
              .findFirst()
              .orElse("");
      if (!name.isEmpty() && elements.getLast().getName().equals(OUT_OCTETS)) {
        counters.add(new InterfaceReport(name, number(each.getVal())));
      }
    }
    return new Heard.Counters(counters, notification.getTimestamp());
  }

  private static long number(TypedValue value) throws IOException {
    return switch (value.getValueCase()) {
      case UINT_VAL -> value.getUintVal();
      case INT_VAL -> value.getIntVal();
      default -> Long.parseUnsignedLong(YangJson.MAPPER.readTree(json(value)).asText());
    };
  }
}
