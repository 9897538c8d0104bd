package io.heddle.cli.heddle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Check of a document against the part of JSON Schema that docs/json.schema.json uses. */
final class SchemaCheck {
  private final List<String> faults = new ArrayList<>();

  private SchemaCheck() {}

  /** Returns one sentence for each value that the schema doesn't allow or doesn't name. */
  static List<String> faults(JsonNode schema, JsonNode document) {
    SchemaCheck check = new SchemaCheck();
    check.check("$", schema, document);
    return check.faults;
  }

  private void check(String path, JsonNode schema, JsonNode value) {
    if (schema.has("enum")) {
      if (!contains(schema.path("enum"), value.isNull() ? "null" : value.asText())) {
        faults.add(path + " is " + value + ", not one of " + schema.path("enum"));
      }
      return;
    }
    JsonNode types = schema.path("type");
    boolean right = types.isArray() ? contains(types, type(value)) : is(types.asText(), value);
    if (!right && !(value.isIntegralNumber() && contains(types, "number"))) {
      faults.add(path + " is " + value + ", not " + types);
      return;
    }
    if (value.isArray()) {
      for (int i = 0; i < value.size(); i++) {
        check(path + "[" + i + "]", schema.path("items"), value.get(i));
      }
    } else if (value.isObject()) {
      checkObject(path, schema, value);
    }
  }

  private void checkObject(String path, JsonNode schema, JsonNode value) {
    if (!schema.has("properties") && !schema.has("additionalProperties")) {
      return;
    }
    for (JsonNode name : schema.path("required")) {
      if (!value.has(name.asText())) {
        faults.add(path + " has no " + name.asText());
      }
    }
    value
        .properties()
        .forEach(each -> {
          JsonNode of = schema.path("properties").path(each.getKey());
          of = of.isMissingNode() ? schema.path("additionalProperties") : of;
          if (of.isMissingNode()) {
            faults.add(path + " has " + each.getKey() + ", which isn't in the schema");
          } else {
            check(path + "." + each.getKey(), of, each.getValue());
          }
        });
  }

  private static boolean is(String type, JsonNode value) {
    return type.equals(type(value)) || type.equals("number") && value.isNumber();
  }

  private static boolean contains(JsonNode words, String word) {
    for (JsonNode each : words) {
      if (each.asText().equals(word)) {
        return true;
      }
    }
    return false;
  }

  private static String type(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> "object";
      case ARRAY -> "array";
      case STRING -> "string";
      case BOOLEAN -> "boolean";
      case NULL -> "null";
      case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
      case BINARY, MISSING, POJO -> throw new AssertionError("no JSON: " + value);
    };
  }
}
