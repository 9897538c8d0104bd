package io.heddle.cli.heddle;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Text form of the JSON Schema of the commands' documents, with one line for each name in a
 * document.
 */
final class JsonHelp {
  private static final String SCHEMA = "json.schema.json";

  private final JsonNode schema;

  private JsonHelp(JsonNode schema) {
    this.schema = schema;
  }

  static JsonHelp read() {
    try (InputStream in = JsonHelp.class.getResourceAsStream(SCHEMA)) {
      return new JsonHelp(Json.mapper().readTree(Objects.requireNonNull(in)));
    } catch (IOException broken) {
      throw new UncheckedIOException("the program's own " + SCHEMA, broken);
    }
  }

  /**
   * Returns a list of the commands that print JSON.
   *
   * @param exists whether a command, such as {@code heddle bgp show routes}, exists here: the
   *     schema has the commands of a checkout, of which a host has some
   */
  String commands(Predicate<String> exists) {
    StringBuilder text = new StringBuilder();
    text.append("These commands print one JSON document with --json; heddle help json COMMAND");
    text.append(" explains its names.\n\n");
    TreeSet<String> names = new TreeSet<>();
    schema.path("$defs").forEach(each -> names.add(command(each)));
    names.stream().filter(exists).forEach(each -> text.append("  ").append(each).append('\n'));
    return text.toString();
  }

  /**
   * Returns the names in a command's documents; empty if the command prints no JSON.
   *
   * @param command all words of the command, such as {@code heddle bgp show routes}
   */
  String documents(String command) {
    StringBuilder text = new StringBuilder();
    for (JsonNode each : schema.path("$defs")) {
      if (command(each).equals(command)) {
        List<String[]> rows = new ArrayList<>();
        addRows("", each, rows);
        text.append(text.isEmpty() ? "" : "\n").append(each.path("title").asText()).append("\n\n");
        append(rows, text);
      }
    }
    return text.toString();
  }

  private static String command(JsonNode document) {
    return document.path("title").asText().replaceAll(" --.*", "");
  }

  private static void append(List<String[]> rows, StringBuilder text) {
    int names = rows.stream().mapToInt(row -> row[0].length()).max().orElse(0);
    int types = rows.stream().mapToInt(row -> row[1].length()).max().orElse(0);
    String format = "  %-" + names + "s  %-" + types + "s  %s";
    for (String[] row : rows) {
      text.append(String.format(Locale.ROOT, format, (Object[]) row).stripTrailing()).append('\n');
    }
  }

  private static void addRows(String prefix, JsonNode object, List<String[]> rows) {
    object
        .path("properties")
        .properties()
        .forEach(each -> {
          JsonNode value = each.getValue();
          String name = prefix + each.getKey();
          String meaning = value.path("description").asText();
          while (value.has("items")) {
            value = value.path("items");
            name += "[]";
          }
          if (!value.has("properties") || !meaning.isEmpty()) {
            rows.add(new String[] {name, type(value), meaning});
          }
          addRows(name + ".", value, rows);
        });
  }

  private static String type(JsonNode value) {
    List<String> words = new ArrayList<>();
    JsonNode either = value.has("enum") ? value.path("enum") : value.path("type");
    if (either.isArray()) {
      either.forEach(each -> words.add(each.asText()));
    } else {
      words.add(either.asText());
    }
    String text = String.join(" | ", words);
    JsonNode values = value.path("additionalProperties");
    return values.isObject() ? text + " of " + type(values) : text;
  }
}
