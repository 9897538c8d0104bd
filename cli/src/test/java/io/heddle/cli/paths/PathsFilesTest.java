package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.fabric.model.EcmpGroup;
import io.heddle.fabric.model.HashAlgorithm;
import io.heddle.fabric.model.HashModel;
import io.heddle.fabric.model.JenkinsHash;
import io.heddle.fabric.model.LinearFit;
import io.heddle.fabric.model.RoceFlow;
import io.heddle.fabric.model.SwitchHash;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Test of {@code heddle paths fit} and {@code pick} on files of measurements. */
final class PathsFilesTest {
  @TempDir private Path folder;
  private final StringWriter out = new StringWriter();
  private String failure = "";

  private int execute(Object command, String... arguments) {
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(new StringWriter()));
    line.setExecutionExceptionHandler((failed, of, parsed) -> {
      failure = String.valueOf(failed.getMessage());
      return 1;
    });
    return line.execute(arguments);
  }

  private static RoceFlow flow(int port) throws UnknownHostException {
    return new RoceFlow(
        InetAddress.getByName("fd00:a::1"), InetAddress.getByName("fd00:b::1"), port, 0);
  }

  /* Writes the file of a measurement in a fabric with one leaf and four spines. */
  private Path measured(SwitchHash hash) throws Exception {
    List<PathsMeasurement.PortPath> paths = new ArrayList<>();
    for (int port : LinearFit.plan(49_152, 64, new Random(4))) {
      int spine = hash.member(flow(port), new EcmpGroup(4));
      List<@Nullable String> routers = new ArrayList<>(List.of("leaf", "spine" + spine, "peer"));
      paths.add(new PathsMeasurement.PortPath(port, routers));
    }
    PathsMeasurement found =
        new PathsMeasurement("fd00::1", "fd00::2", 3, true, List.of(), paths, List.of());
    return Files.writeString(folder.resolve("measured.json"), Json.of(found));
  }

  @Test
  void linearHashIsFitted() throws Exception {
    Path file = measured(HashModel.ecmp(HashAlgorithm.CRC32LSB, 9));
    assertEquals(0, execute(new PathsFitCommand(), file.toString(), "--json"));
    JsonNode fit = Json.mapper().readTree(out.toString());
    assertTrue(fit.get("linear").asBoolean(), out.toString());
    assertEquals(1, fit.get("accuracy").asDouble());
    assertEquals(16, fit.get("flips").size());
    assertEquals(2, fit.get("hop").asInt());
  }

  @Test
  void nonlinearHashIsRejectedWithAReason() throws Exception {
    assertEquals(1, execute(new PathsFitCommand(), measured(new JenkinsHash(1)).toString()));
    assertTrue(out.toString().contains("The hash isn't linear in the port"), out.toString());
  }

  @Test
  void pickedPortsOfALinearHashSpreadEvenlyBeyondMeasuredPorts() throws Exception {
    SwitchHash hash = HashModel.ecmp(HashAlgorithm.CRC32LSB, 9);
    assertEquals(0, execute(new PathsPickCommand(), "201", measured(hash).toString(), "--json"));
    JsonNode pick = Json.mapper().readTree(out.toString());
    int[] flows = new int[4];
    for (JsonNode port : pick.get("ports")) {
      flows[hash.member(flow(port.asInt()), new EcmpGroup(4))]++;
    }
    assertEquals(201, Arrays.stream(flows).sum());
    assertTrue(Arrays.stream(flows).allMatch(each -> each == 50 || each == 51));
    assertTrue(pick.get("setting").asText().startsWith("HEDDLE_SOURCE_PORTS=49152"));
  }

  @Test
  void onlyMeasuredPortsOfANonlinearHashArePicked() throws Exception {
    SwitchHash hash = new JenkinsHash(1);
    Path file = measured(hash);
    assertEquals(0, execute(new PathsPickCommand(), "10", file.toString()));
    assertTrue(out.toString().contains("10 ports over 4 paths: 2 to 3 flows on each"));
    assertEquals(1, execute(new PathsPickCommand(), "64", file.toString()));
    assertTrue(failure.contains("measure again, with more --ports"), failure);
  }

  @Test
  void invalidMeasurementIsRejectedWithTheRemedy() throws Exception {
    Path file = Files.writeString(folder.resolve("other"), "{\"planes\": 3}");
    assertEquals(1, execute(new PathsFitCommand(), file.toString()));
    assertTrue(failure.contains("heddle paths measure PEER --save"), failure);
    Files.writeString(file, "no JSON at all");
    assertEquals(1, execute(new PathsFitCommand(), file.toString()));
    assertTrue(failure.contains("is not a measurement"), failure);
  }
}
