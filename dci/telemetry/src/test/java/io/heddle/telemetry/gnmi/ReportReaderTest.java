package io.heddle.telemetry.gnmi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.proto.Notification;
import io.heddle.telemetry.proto.TypedValue;
import io.heddle.telemetry.proto.Update;
import org.junit.jupiter.api.Test;

/** Tests that malformed notifications are returned as values, not thrown as exceptions. */
final class ReportReaderTest {
  private static final String FLOW =
      """
      {"destination": "fc00:2::2", "queue-pair": 17, "source": "fc00:1::1", "policy": "wan",
       "bits-per-second": "30000000", "list": 1, "list-by-hash": 1}\
      """;
  private static final String LIST =
      "{\"id\": 1, \"name\": \"sl1\", \"policy\": \"wan\", \"up\": true}";
  private static final String RULE =
      """
      {"destination": "fc00:2::2", "queue-pair": 17, "list": 1, "set-by": "operator"}\
      """;

  private static Decoded read(ReportPath path, String... entries) {
    Notification.Builder all = Notification.newBuilder().setPrefix(path.path()).setAtomic(true);
    for (String each : entries) {
      all.addUpdate(
          Update.newBuilder()
              .setVal(TypedValue.newBuilder().setJsonIetfVal(ByteString.copyFromUtf8(each))));
    }
    return ReportReader.read(all.build());
  }

  private static void refused(String why, ReportPath path, String... entries) {
    Decoded.Malformed malformed = assertInstanceOf(Decoded.Malformed.class, read(path, entries));
    assertEquals(path, malformed.path());
    assertTrue(malformed.why().contains(why), malformed.why());
  }

  @Test
  void validEntriesAreAccepted() {
    assertInstanceOf(Decoded.Elephants.class, read(ReportPath.ELEPHANTS, FLOW));
    assertInstanceOf(
        Decoded.Elephants.class, read(ReportPath.ELEPHANTS, FLOW.replace("fc00:2::2", "10.2.0.2")));
    assertInstanceOf(Decoded.Lists.class, read(ReportPath.LISTS, LIST));
    assertInstanceOf(Decoded.Rules.class, read(ReportPath.RULES, RULE));
    assertInstanceOf(Decoded.Rules.class, read(ReportPath.RULES));
  }

  @Test
  void invalidFlowsAreRefusedWithTheReason() {
    ReportPath path = ReportPath.ELEPHANTS;
    refused("no destination", path, FLOW.replace("\"destination\"", "\"target\""));
    refused("source can't be gw1", path, FLOW.replace("fc00:1::1", "gw1"));
    refused("source can't be 17", path, FLOW.replace("fc00:1::1", "17"));
    refused("destination can't be fe80::1%eth0", path, FLOW.replace("fc00:2::2", "fe80::1%eth0"));
    refused("no policy", path, FLOW.replace("\"policy\"", "\"politics\""));
    refused("bits-per-second can't be -1", path, FLOW.replace("30000000", "-1"));
    refused("queue-pair can't be 16777216", path, FLOW.replace("17", "16777216"));
    refused("[fc00:2::2, 17, fc00:1::1] is listed twice", path, FLOW, FLOW);
    refused("null at", path, "null");
    refused("/gateway/elephants", path, "{");
  }

  @Test
  void invalidListsAndRulesAreRefused() {
    refused("id can't be 0", ReportPath.LISTS, LIST.replace("1,", "0,"));
    refused("no policy", ReportPath.LISTS, LIST.replace("\"policy\"", "\"politics\""));
    refused("loss can't be NaN", ReportPath.LISTS, LIST.replace("}", ", \"loss\": \"NaN\"}"));
    refused("[1] is listed twice", ReportPath.LISTS, LIST, LIST);
    refused("no set-by", ReportPath.RULES, RULE.replace("set-by", "set-by-whom"));
    refused("source can't be x::", ReportPath.RULES, RULE.replace("{", "{\"source\": \"x::\", "));
    refused("[fc00:2::2, 17, any] is listed twice", ReportPath.RULES, RULE, RULE);
  }
}
