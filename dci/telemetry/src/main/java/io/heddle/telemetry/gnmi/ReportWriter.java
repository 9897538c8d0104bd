package io.heddle.telemetry.gnmi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.google.protobuf.ByteString;
import io.heddle.telemetry.proto.Notification;
import io.heddle.telemetry.proto.Path;
import io.heddle.telemetry.proto.PathElem;
import io.heddle.telemetry.proto.TypedValue;
import io.heddle.telemetry.proto.Update;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.util.Map;

/**
 * Encoder of a report as gNMI notifications, one per path. Notifications of gateway paths are
 * atomic (gNMI §3.5.2.5): an entry that a notification lacks no longer exists. An empty
 * notification still shows that the gateway is alive.
 */
public final class ReportWriter {
  private static final String ANY = "any";

  private ReportWriter() {}

  /** Returns the notification of one path of a report. */
  public static Notification write(ReportPath path, GatewayReport report) {
    Notification.Builder out =
        Notification.newBuilder()
            .setTimestamp(report.timestampNs())
            .setPrefix(path.path())
            .setAtomic(path != ReportPath.INTERFACES);
    switch (path) {
      case LISTS -> report.lists().forEach(each -> out.addUpdate(list(each)));
      case ELEPHANTS -> report.elephants().forEach(each -> out.addUpdate(elephant(each)));
      case RULES -> report.rules().forEach(each -> out.addUpdate(rule(each)));
      case INTERFACES -> report.interfaces().forEach(each -> addInterface(out, each));
    }
    return out.build();
  }

  private static Update list(ListReport list) {
    return json(element("list", Map.of("id", Integer.toString(list.id()))), list);
  }

  private static Update elephant(ElephantReport flow) {
    return json(
        element(
            "elephant",
            Map.of(
                "destination",
                flow.destination(),
                "queue-pair",
                Integer.toString(flow.queuePair()),
                "source",
                flow.source())),
        flow);
  }

  private static Update rule(RuleReport rule) {
    String source = rule.source();
    return json(
        element(
            "rule",
            Map.of(
                "destination",
                rule.destination(),
                "queue-pair",
                Integer.toString(rule.queuePair()),
                "source",
                source == null ? ANY : source)),
        rule);
  }

  private static void addInterface(Notification.Builder out, InterfaceReport one) {
    Path state =
        Path.newBuilder()
            .addElem(element("interface", Map.of("name", one.name())))
            .addElem(element("state", Map.of()))
            .build();
    out.addUpdate(
        Update.newBuilder()
            .setPath(
                state.toBuilder()
                    .addElem(element("counters", Map.of()))
                    .addElem(element("out-octets", Map.of())))
            .setVal(TypedValue.newBuilder().setUintVal(one.outOctets())));
    Boolean up = one.up();
    if (up != null) {
      out.addUpdate(
          Update.newBuilder()
              .setPath(state.toBuilder().addElem(element("oper-status", Map.of())))
              .setVal(
                  TypedValue.newBuilder()
                      .setJsonIetfVal(ByteString.copyFromUtf8(up ? "\"UP\"" : "\"DOWN\""))));
    }
  }

  private static PathElem element(String name, Map<String, String> keys) {
    return PathElem.newBuilder().setName(name).putAllKey(keys).build();
  }

  private static Update json(PathElem element, Object value) {
    try {
      ByteString text = ByteString.copyFrom(YangJson.MAPPER.writeValueAsBytes(value));
      return Update.newBuilder()
          .setPath(Path.newBuilder().addElem(element))
          .setVal(TypedValue.newBuilder().setJsonIetfVal(text))
          .build();
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
