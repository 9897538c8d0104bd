package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of {@link FabricFigures} on shortened JSON documents. */
class FabricFiguresTest {
  private static JsonNode json(String text) throws Exception {
    return Json.mapper().readTree(text);
  }

  private static double named(List<Figure> figures, String name) {
    return figures.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " isn't in " + figures))
        .median();
  }

  @Test
  void labCheckTakesTheWorstRowAndIgnoresHashForSpraying() throws Exception {
    List<Figure> figures =
        FabricFigures.labCheck(
            json(
                """
                {"rows": [
                  {"mode": "hash", "flows": 64, "protocol_on_one_link": 64,
                   "data_on_all_links": 0, "uneven": 0.5, "link_pairs": 16},
                  {"mode": "spray", "flows": 64, "protocol_on_one_link": 48,
                   "data_on_all_links": 64, "uneven": 0.01, "link_pairs": 4},
                  {"mode": "spraylink", "flows": 64, "protocol_on_one_link": 64,
                   "data_on_all_links": 32, "uneven": 0.03, "link_pairs": 15}]}
                """));
    assertEquals(0.75, named(figures, "protocol flows on one link"));
    assertEquals(0.5, named(figures, "sprayed flows on all links"));
    assertEquals(0.03, named(figures, "sprayed links uneven by"));
    assertEquals(4, named(figures, "pairs of links in two tiers"));
  }

  /* The demo between data centres names its figures itself, and a target must name one of them. */
  @Test
  void targetsBetweenDataCentresNameFiguresOfTheDemo() throws Exception {
    StringBuilder sources = new StringBuilder();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/io/heddle/tools/wan"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        sources.append(Files.readString(file));
      }
    }
    List<String> figures =
        Targets.all().stream()
            .filter(target -> target.measurement().equals(Measurements.WAN))
            .map(Target::figure)
            .filter(figure -> !figure.equals(FabricFigures.WAN_STEPS))
            .toList();
    assertTrue(figures.size() >= 5, figures::toString);
    for (String figure : figures) {
      String format = figure.replaceAll("\\d+(,\\d{3})+", "%,d");
      assertTrue(sources.indexOf('"' + format + '"') >= 0, figure);
    }
  }

  @Test
  void switchingTakesTheWorstPolicyAndSeparatesStandardPeers() throws Exception {
    List<Figure> figures =
        FabricFigures.switching(
            json(
                """
                {"situations": [{"name": "quarter", "cells": [
                  {"policy": "pinned", "switching": "hash", "of_capacity": [0.3, 0.5, 0.4],
                   "of_hash": [1, 1, 1], "spurious_retransmissions": [0.5], "marked": [0.9]},
                  {"policy": "pinned", "switching": "spraylink", "of_capacity": [0.98],
                   "of_hash": [2.5], "spurious_retransmissions": [0.0002], "marked": [0.9]},
                  {"policy": "spray", "switching": "spraylink", "of_capacity": [0.96],
                   "of_hash": [1.5], "spurious_retransmissions": [0.0001], "marked": [0.9]},
                  {"policy": "standard", "switching": "spraylink", "of_capacity": [0.4],
                   "of_hash": [0.99], "spurious_retransmissions": [0], "marked": [0]},
                  {"policy": "rxe", "switching": "spray", "of_capacity": [0.5],
                   "of_hash": [0.97], "spurious_retransmissions": [0], "marked": [0]},
                  {"policy": "rxe", "switching": "spraylink", "of_capacity": [0.2],
                   "of_hash": [0.98], "spurious_retransmissions": [0.3], "marked": [0.1]}]}]}
                """));
    assertEquals(0.97, named(figures, "the kernel's devices, worst ÷ hash"));
    assertEquals(0.1, named(figures, "the kernel's devices, marked"));
    assertEquals(0.4, named(figures, "quarter, hash, worst policy ÷ capacity"));
    assertEquals(0.96, named(figures, "quarter, spraylink, worst policy ÷ capacity"));
    assertEquals(1.5, named(figures, "quarter, spraylink, worst policy ÷ hash"));
    assertEquals(0.0002, named(figures, "needless sendings under spraylink"));
    assertEquals(0.99, named(figures, "standard peers, worst ÷ hash"));
    assertEquals(0, named(figures, "standard peers, marked"));
  }

  @Test
  void simulateCheckTakesTheLargestDeviation() throws Exception {
    List<Figure> figures =
        FabricFigures.simulateCheck(
            json(
                """
                {"rows": [{"expected": 100, "found": 90, "tolerance": 20},
                          {"expected": 1.0, "found": 1.03, "tolerance": 0.04}]}
                """));
    assertEquals(0.75, named(figures, "worst figure off by, in parts of its tolerance"), 1e-9);
    assertEquals(2, named(figures, "figures"));
  }

  @Test
  void schemesThatDifferFromTheFormulaAreCounted() throws Exception {
    List<Figure> figures =
        FabricFigures.controlPlane(
            json(
                """
                {"schemes": [{"scheme": "host routes", "in_table": 400000, "is_equal": true},
                             {"scheme": "prefix ORF", "in_table": 63, "is_equal": false}]}
                """));
    assertEquals(400_000, named(figures, "host routes, routes of a card"));
    assertEquals(1, named(figures, "schemes that aren't as the arithmetic"));
  }

  /* Without the figure, its target counts as not run. */
  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"rows\": [], \"schemes\": []}"})
  void emptyDocumentHasNoFigures(String nothing) throws Exception {
    assertEquals(List.of(), FabricFigures.labCheck(json(nothing)));
    assertEquals(List.of(), FabricFigures.switching(json(nothing)));
    assertEquals(List.of(), FabricFigures.simulateCheck(json(nothing)));
    assertEquals(List.of(), FabricFigures.controlPlane(json(nothing)));
    assertEquals(List.of(), FigureReaders.paths(json(nothing)));
  }

  @Test
  void labThatOnlyHashesHasNoSprayFigures() throws Exception {
    List<Figure> figures =
        FabricFigures.labCheck(
            json(
                """
                {"rows": [{"mode": "hash", "flows": 64, "protocol_on_one_link": 64,
                  "data_on_all_links": 0, "uneven": 0.5, "link_pairs": 16}]}
                """));
    assertEquals(
        List.of("protocol flows on one link", "pairs of links in two tiers"),
        figures.stream().map(Figure::name).toList());
  }

  @Test
  void wanFiguresKeepTheirNames() throws Exception {
    List<Figure> figures =
        FabricFigures.wan(
            json(
                """
                {"steps": [{"name": "a", "passed": true}, {"name": "b", "holds": false}],
                 "figures": [
                  {"test": "F", "name": "10,000 rules by BGP active", "value": 1500, "unit": "ms"},
                  {"test": "I", "name": "solver", "value": 1.3, "unit": ""}]}
                """));
    assertEquals(0.5, named(figures, "steps that hold"));
    assertEquals(1500, named(figures, "10,000 rules by BGP active"));
    assertEquals(1.3, named(figures, "solver"));
    assertEquals(List.of(), FabricFigures.wan(json("{}")));
  }
}
