package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import io.heddle.tools.lab.LabPlan;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of the doctor's findings on the planes to another host, whose doctor answers probes. */
@EndsWithin(180)
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
class DoctorToPeerTest extends OnTwoHosts {
  private Process answerer(Map<String, String> environment) throws Exception {
    Process answering = start(1, environment, doctor("--answer"));
    BufferedReader said = answering.inputReader();
    for (int plane = 0; plane < PLANES; plane++) {
      String line = said.readLine();
      assertTrue(line != null && line.startsWith("answering on"), String.valueOf(line));
    }
    return answering;
  }

  @Test
  void everyPlaneToAPeerIsProbedAndFaultsReported() throws Exception {
    Process answering = answerer(Map.of());
    try {
      JsonNode well = examine("--peer", LabPlan.address(1, 0));
      long carrying = 0;
      for (JsonNode finding : well) {
        carrying +=
            finding.path("evidence").asText().contains("carries 9000 bytes there and back") ? 1 : 0;
      }
      assertEquals(PLANES, carrying, well.toPrettyString());
      try (RoutePublisher publisher =
          RoutePublisher.create(
              folder.resolve("routes"), "a test", WeightRules.DEFAULT, 60_000, NanoClock.SYSTEM)) {
        int plane = publisher.setPlane(new PublishedPlane("if:e2", null, 0, "nobody"));
        ByteBuffer remote =
            ByteBuffer.wrap(InetAddress.getByName(LabPlan.address(1, 1)).getAddress());
        publisher.begin();
        publisher.set(
            remote.getLong(0),
            remote.getLong(8),
            128,
            plane,
            RouteCell.of(WeightReason.UNREACHABLE, 0));
        publisher.commit();
        publisher.goLive();
        expect(examine("--peer", LabPlan.address(1, 0)), "WARNING", "plane-weightless", "if:e2 to");
      }
      Process nft = start(1, Map.of(), List.of("nft", "-f", "-"));
      try (var rules = nft.outputWriter()) {
        rules.write("table inet f { chain in { type filter hook input priority 0; iif lo accept; ");
        rules.write("udp dport 4791 accept; meta l4proto udp drop; }; }");
      }
      assertEquals(0, nft.waitFor());
      expect(
          examine("--peer", LabPlan.address(1, 0)),
          "FAULT",
          "ports-blocked",
          "UDP port 4791 is answered, port 4854 isn't");
      ip(1, "link", "set", "e2", "mtu", "1500");
      ip(1, "-6", "route", "del", "fd00:1:1:3::/64", "dev", "e3");
      JsonNode ill = examine("--peer", LabPlan.address(1, 0));
      expect(ill, "FAULT", "plane-unreachable", LabPlan.address(1, 2));
      expect(ill, "FAULT", "mtu-blocked", "packets of 9000 bytes don't pass, those of 14");
      expect(examine("--peer", "fd00:1:1:1::dead"), "FAULT", "peer-silent", "fd00:1:1:1::dead");
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  @Test
  void interfacesInOneSubnetAreReported() throws Exception {
    expectNot(examine(), "arp-flux");
    ip(0, "addr", "add", "10.66.0.1/24", "dev", "e1");
    ip(0, "addr", "add", "10.66.0.2/24", "dev", "e2");
    List<String> filter =
        List.of(
            "sh",
            "-c",
            "cd /proc/sys/net/ipv4/conf; echo 0 > all/rp_filter; echo 1 > e2/rp_filter");
    assertEquals(0, start(0, Map.of(), filter).waitFor());
    JsonNode findings =
        examine(Map.of("HEDDLE_PLANES", "10.66.0.1=a,10.66.0.2=b"), doctor("--json"));
    expect(findings, "WARNING", "arp-flux", "e1, e2 are in the subnet of 10.66.0.1/24");
    expect(findings, "WARNING", "rp-filter-strict", "rp_filter of e2 is 1");
  }

  @Test
  void otherNamedAddressesAreProbedIfOneIsSilent() throws Exception {
    Process answering = answerer(Map.of());
    try {
      ip(1, "-6", "rule", "add", "from", LabPlan.address(1, 0), "prohibit");
      JsonNode one = examine("--peer", LabPlan.address(1, 0));
      expect(one, "FAULT", "peer-silent", "its other addresses were not probed");
      expectNot(one, "plane-unreachable");
      JsonNode two = examine("--peer", LabPlan.address(1, 0) + "," + LabPlan.address(1, 1));
      expectNot(two, "peer-silent");
      expect(two, "FAULT", "plane-unreachable", "if:e1, ");
      assertTrue(two.toString().contains("if:e2, "), two.toPrettyString());
      assertEquals(1, count(two, "plane-unreachable"), two.toPrettyString());
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  @Test
  void sameHostPartOnAnotherPlaneIsProbed() throws Exception {
    List<String> planes = new ArrayList<>();
    for (int plane = 1; plane <= PLANES; plane++) {
      String address = "fd00:1:1:" + plane + "::b";
      ip(1, "-6", "addr", "add", address + "/64", "dev", "e" + plane, "nodad");
      planes.add(address + "=" + plane);
    }
    Process answering = answerer(Map.of("HEDDLE_PLANES", String.join(",", planes)));
    try {
      ip(1, "-6", "rule", "add", "from", "fd00:1:1:1::b", "prohibit");
      JsonNode findings =
          examine(
              Map.of("HEDDLE_PLANES", "e1=1,e2=2,e3=3"),
              doctor("--json", "--peer", "fd00:1:1:1::b"));
      expectNot(findings, "peer-silent");
      expect(findings, "FAULT", "plane-unreachable", "to fd00:1:1:1::b");
      assertEquals(1, count(findings, "plane-unreachable"), findings.toPrettyString());
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  private static int count(JsonNode findings, String cause) {
    int count = 0;
    for (JsonNode finding : findings) {
      count += finding.path("cause").asText().equals(cause) ? 1 : 0;
    }
    return count;
  }

  @Test
  void planesNamedDifferentlyAtTheEndsAreReported() throws Exception {
    Process answering = answerer(Map.of("HEDDLE_PLANES", "e1=one,e2=two,e3=three"));
    try {
      JsonNode findings =
          examine(
              Map.of("HEDDLE_PLANES", "e1=one,e2=two,e3=drei"),
              doctor("--json", "--peer", LabPlan.address(1, 0)));
      expect(
          findings,
          "WARNING",
          "planes-unpaired",
          "plane:drei (fd00:1:1:3::/64 on e3) here only, plane:three (fd00:1:1:3::/64 on e3) there"
              + " only");
      JsonNode others =
          examine(
              Map.of("HEDDLE_PLANES", "e1=eins,e2=zwei,e3=drei"),
              doctor("--json", "--peer", LabPlan.address(1, 0)));
      expect(others, "FAULT", "no-common-plane", "plane:one");
      JsonNode unnamed = examine("--peer", LabPlan.address(1, 0));
      expectNot(unnamed, "planes-unpaired");
      assertTrue(
          unnamed.toString().contains("if:e2, there plane:two by prefix, "),
          unnamed.toPrettyString());
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }

  /*
   * Runs only in whole test runs. In other runs, ConformanceTest covers IPv4 planes, and
   * everyPlaneToAPeerIsProbedAndFaultsReported covers the probes.
   */
  @Test
  @WholeRunOnly
  void planesOfAnIpv4FabricAreProbed() throws Exception {
    for (int host = 0; host < 2; host++) {
      for (int plane = 1; plane <= PLANES; plane++) {
        ip(host, "-6", "addr", "flush", "dev", "e" + plane, "scope", "global");
        ip(host, "addr", "add", "10.7.%s.%s/24".formatted(plane, host + 1), "dev", "e" + plane);
      }
    }
    Process answering = answerer(Map.of());
    try {
      JsonNode well = examine("--peer", "10.7.1.2");
      assertEquals(0, count(well, "no-plane"), well.toPrettyString());
      for (int plane = 1; plane <= PLANES; plane++) {
        String expected = "if:e%s, 10.7.%1$s.1 to 10.7.%1$s.2: carries 9000 bytes".formatted(plane);
        assertTrue(well.toString().contains(expected), well.toPrettyString());
      }
      ip(1, "rule", "add", "from", "10.7.1.2", "prohibit");
      ip(1, "link", "set", "e2", "mtu", "1500");
      JsonNode ill = examine("--peer", "10.7.1.2");
      expect(ill, "FAULT", "plane-unreachable", "if:e1, ");
      expect(ill, "FAULT", "mtu-blocked", "packets of 9000 bytes don't pass, those of 14");
      ip(0, "addr", "add", "172.20.0.1/16", "dev", "e3");
      ip(0, "addr", "del", "10.7.3.1/24", "dev", "e3");
      expect(examine("--peer", "10.7.2.2"), "FAULT", "plane-unreachable", "172.20.0.1 to 10.7.3.2");
    } finally {
      answering.destroy();
      answering.waitFor();
    }
  }
}
