package io.heddle.telemetry.gnmi;

import com.fasterxml.jackson.databind.ObjectReader;
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
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Parser of gNMI notifications. A malformed notification is returned as a value, not thrown as an
 * exception, since a peer may send anything.
 */
public final class ReportReader {
  private static final String OUT_OCTETS = "out-octets";
  private static final String OPER_STATUS = "oper-status";

  private ReportReader() {}

  /** Content of a notification. */
  public sealed interface Decoded {
    /** All segment lists of a gateway. */
    record Lists(List<ListReport> lists) implements Decoded {}

    /** All elephant flows of a gateway. */
    record Elephants(List<ElephantReport> elephants) implements Decoded {}

    /** All steering rules of a gateway. */
    record Rules(List<RuleReport> rules) implements Decoded {}

    /**
     * Counters of some interfaces.
     *
     * @param timestampNs time of the reading, by the sender's clock
     */
    record Counters(List<InterfaceReport> counters, long timestampNs) implements Decoded {}

    /**
     * Notification that can't be parsed or has invalid values.
     *
     * @param path path of the notification
     * @param why reason, as a clause
     */
    record Malformed(ReportPath path, String why) implements Decoded {}
  }

  /** Parses a notification. Never throws: malformed input becomes {@link Decoded.Malformed}. */
  public static Decoded read(Notification notification) {
    String under = ReportPath.text(notification.getPrefix());
    ReportPath path =
        Arrays.stream(ReportPath.values())
            .filter(each -> each.text().equals(under))
            .findFirst()
            .orElse(ReportPath.INTERFACES);
    try {
      return switch (path) {
        case LISTS -> new Decoded.Lists(values(notification, ListReport.class, ReportCheck::of));
        case ELEPHANTS ->
            new Decoded.Elephants(values(notification, ElephantReport.class, ReportCheck::of));
        case RULES -> new Decoded.Rules(values(notification, RuleReport.class, ReportCheck::of));
        case INTERFACES -> counters(notification);
      };
    } catch (IOException | IllegalArgumentException malformed) {
      return new Decoded.Malformed(path, under + ": " + malformed.getMessage());
    }
  }

  /* Parses the entries of a list. Each key of the YANG model may occur only once. */
  private static <T> List<T> values(
      Notification notification, Class<T> type, Function<T, List<Object>> keyOf)
      throws IOException {
    ObjectReader reader = YangJson.MAPPER.readerFor(type);
    List<T> all = new ArrayList<>(notification.getUpdateCount());
    Set<List<Object>> keys = new HashSet<>();
    for (Update each : notification.getUpdateList()) {
      T value = reader.readValue(json(each.getVal()));
      if (value == null) {
        throw new IOException("null at " + ReportPath.text(each.getPath()));
      }
      List<Object> key = keyOf.apply(value);
      if (!keys.add(key)) {
        throw new IOException(key + " is listed twice");
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

  /*
   * Parses interface counters. Routers send each counter as an update of its own, with any prefix,
   * as JSON or as a plain number.
   */
  private static Decoded counters(Notification notification) throws IOException {
    Map<String, Long> octets = new LinkedHashMap<>();
    Map<String, Boolean> up = new HashMap<>();
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
      if (name.isEmpty()) {
        continue;
      }
      switch (elements.getLast().getName()) {
        case OUT_OCTETS -> octets.put(name, number(each.getVal()));
        case OPER_STATUS -> up.put(name, text(each.getVal()).equals("UP"));
        default -> {
          /* Ignores other leaves, since routers send more than the subscription needs. */
        }
      }
    }
    List<InterfaceReport> counters = new ArrayList<>();
    octets.forEach((name, count) -> counters.add(new InterfaceReport(name, count, up.get(name))));
    return new Decoded.Counters(counters, notification.getTimestamp());
  }

  private static String text(TypedValue value) throws IOException {
    return value.hasStringVal()
        ? value.getStringVal()
        : YangJson.MAPPER.readTree(json(value)).asText();
  }

  private static long number(TypedValue value) throws IOException {
    return switch (value.getValueCase()) {
      case UINT_VAL -> value.getUintVal();
      case INT_VAL -> value.getIntVal();
      default -> Long.parseUnsignedLong(YangJson.MAPPER.readTree(json(value)).asText());
    };
  }
}
