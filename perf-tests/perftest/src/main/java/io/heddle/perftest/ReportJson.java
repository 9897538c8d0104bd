package io.heddle.perftest;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.PathMtu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON report: {@code test_info} and {@code results} under perftest's names. Heddle adds {@code
 * all_results} for several sizes, {@code planes} and {@code completion_usec}.
 */
final class ReportJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final double[] PERCENTS = {50, 90, 95, 99, 99.9, 99.99};

  private final Settings settings;
  private final Map<String, Object> document = new LinkedHashMap<>();
  private final List<Map<String, Object>> rows = new ArrayList<>();

  ReportJson(Settings settings) {
    this.settings = settings;
  }

  void test(TestDevice device, TestQueues queues, PathMtu mtu) {
    Settings.Traffic traffic = settings.traffic();
    Map<String, Object> test = new LinkedHashMap<>();
    String title = settings.kind().title().replace(' ', '_');
    test.put("test", traffic.bidirectional() ? title.replace("BW", "Bidirectional_BW") : title);
    test.put("Dual_port", "OFF");
    test.put("Device", device.name());
    test.put("Number_of_qps", queues.count());
    test.put("Transport_type", "IB");
    test.put("Connection_type", "RC");
    test.put("Using_SRQ", "OFF");
    if (settings.sends()) {
      test.put("TX_depth", traffic.sendDepth());
    }
    if (settings.receives()) {
      test.put("RX_depth", traffic.receiveDepth());
    }
    if (!settings.kind().isLatency()) {
      test.put("CQ_Moderation", traffic.moderation());
    }
    test.put("Mtu", mtu.bytes());
    test.put("Link_type", device.linkType());
    test.put("GID_index", queues.lanes().getFirst().gidIndex());
    if (settings.kind().isRead()) {
      test.put("Outstand_reads", queues.own(0).outstandingReads());
    } else {
      test.put("Max_inline_data", queues.inlineBytes());
    }
    test.put("rdma_cm_QPs", "OFF");
    test.put("Data_ex_method", "Ethernet");
    document.put("test_info", test);
  }

  void row(BandwidthReport report) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("MsgSize", report.sizeBytes());
    row.put("n_iterations", report.iterations());
    row.put("BW_peak", rounded(report.peak()));
    row.put("BW_average", rounded(report.average()));
    row.put("MsgRate", rounded(report.messageRate()));
    rows.add(row);
  }

  void row(LatencyResult result) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("MsgSize", result.sizeBytes());
    row.put("n_iterations", result.iterations());
    if (settings.traffic().isTimed()) {
      row.put("t_avg", rounded(result.averageUs()));
      row.put("tps_average", rounded(result.perSecond()));
    } else {
      row.put("t_min", rounded(result.leastUs()));
      row.put("t_max", rounded(result.mostUs()));
      row.put("t_typical", rounded(result.typicalUs()));
      row.put("t_avg", rounded(result.averageUs()));
      row.put("t_stdev", rounded(result.deviationUs()));
      row.put("percentile_99", rounded(result.percentile99Us()));
      row.put("percentile_99.9", rounded(result.percentile999Us()));
    }
    rows.add(row);
    distribution("half_round_trip_usec", result.distribution());
  }

  void distribution(String name, Distribution distribution) {
    if (distribution.count() == 0) {
      return;
    }
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("count", distribution.count());
    values.put("min", rounded(distribution.leastUs()));
    values.put("mean", rounded(distribution.meanUs()));
    for (double percent : PERCENTS) {
      values.put("p" + percent, rounded(distribution.percentileUs(percent)));
    }
    values.put("max", rounded(distribution.mostUs()));
    rows.getLast().put(name, values);
  }

  void planes(List<Lane> lanes, BandwidthResult result) {
    if (lanes.getFirst().key().isEmpty()) {
      return;
    }
    double unit = BandwidthResult.unitBytes(settings.output().gigabits());
    List<Map<String, Object>> planes = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      Map<String, Object> plane = new LinkedHashMap<>();
      plane.put("key", lanes.get(i).key());
      plane.put("address", lanes.get(i).gid().toString());
      plane.put("messages", result.laneMessages()[i]);
      plane.put("bytes", result.laneBytes()[i]);
      plane.put("BW_average", rounded(result.perSecond(result.laneBytes()[i]) / unit));
      planes.add(plane);
    }
    rows.getLast().put("planes", planes);
  }

  void planes(List<Lane> lanes, List<LatencyResult> results) {
    if (lanes.getFirst().key().isEmpty()) {
      return;
    }
    List<Map<String, Object>> planes = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      Map<String, Object> plane = new LinkedHashMap<>();
      plane.put("key", lanes.get(i).key());
      plane.put("address", lanes.get(i).gid().toString());
      plane.put("t_min", rounded(results.get(i).leastUs()));
      plane.put("t_typical", rounded(results.get(i).typicalUs()));
      plane.put("t_avg", rounded(results.get(i).averageUs()));
      plane.put("percentile_99", rounded(results.get(i).percentile99Us()));
      planes.add(plane);
    }
    rows.getLast().put("planes", planes);
  }

  private static double rounded(double value) {
    return Math.round(value * 1e6) / 1e6;
  }

  /** Returns the document so far. */
  String text() throws IOException {
    Map<String, Object> whole = new LinkedHashMap<>(document);
    if (!rows.isEmpty()) {
      whole.put("results", rows.getLast());
    }
    if (rows.size() > 1) {
      whole.put("all_results", rows);
    }
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(whole) + "\n";
  }

  /**
   * Writes the document to the requested file, if any.
   *
   * @throws HeddleException if the file can't be written
   */
  void write() {
    String file = settings.output().jsonFile();
    if (file == null) {
      return;
    }
    try {
      Files.writeString(Path.of(file), text());
    } catch (IOException failed) {
      throw new HeddleException("can't write the report to " + file + ": " + failed, failed);
    }
  }
}
