package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.heddle.platform.testing.Checkout;
import java.io.IOException;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * JSON Schemas of records as Jackson prints them. The descriptions come from the records' comments.
 */
final class RecordSchemas {
  /* Matches the end of a Javadoc comment and the header of the record that it documents. */
  private static final Pattern RECORD =
      Pattern.compile(
          "\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public |private |final )*record (\\w+)\\(");

  /** Source files of all modules by the full name of their class. */
  private final Map<String, Path> sources = new TreeMap<>();

  /**
   * Descriptions of each record's components, taken from its comment, by the record's full name.
   */
  private final Map<String, Map<String, String>> comments = new TreeMap<>();

  RecordSchemas() throws IOException {
    findSources();
  }

  private void findSources() throws IOException {
    try (Stream<Path> modules = Files.walk(Checkout.ROOT, 2)) {
      for (Path module : modules.toList()) {
        Path sources = module.resolve(Path.of("src", "main", "java"));
        if (Files.isDirectory(sources)) {
          findSources(sources);
        }
      }
    }
  }

  private void findSources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String path = folder.relativize(file).toString();
        sources.put(path.replace(".java", "").replace('/', '.'), file);
      }
    }
  }

  private Map<String, String> commentsOf(Class<?> record) throws IOException {
    if (!comments.containsKey(record.getName())) {
      String outer = record.getName().replaceAll("\\$.*", "");
      String source = Files.readString(sources.get(outer));
      Matcher found = RECORD.matcher(source);
      while (found.find()) {
        String comment = source.substring(source.lastIndexOf("/**", found.start()), found.start());
        boolean inner = !outer.endsWith("." + found.group(1));
        comments.put(inner ? outer + "$" + found.group(1) : outer, parameters(comment));
      }
    }
    return comments.getOrDefault(record.getName(), Map.of());
  }

  private static Map<String, String> parameters(String comment) {
    Map<String, String> parameters = new TreeMap<>();
    String flat = comment.replaceAll("\\s*\\n\\s*\\* ?", " ").strip();
    Matcher each = Pattern.compile("@param (\\w+) (.*?)(?= @param | @return |$)").matcher(flat);
    while (each.find()) {
      String text = each.group(2).replaceAll("\\{@code ([^}]*)}", "`$1`").strip();
      text =
          text.replaceAll("\\{@link \\S+ ([^}]*)}", "$1").replaceAll("\\{@link #?([^}]*)}", "$1");
      parameters.put(each.group(1), text.replaceAll("\\s+", " "));
    }
    return parameters;
  }

  Class<?> type(String name) throws ClassNotFoundException {
    String outer = name.replaceAll("\\$.*", "");
    List<String> found =
        sources.keySet().stream().filter(each -> each.endsWith("." + outer)).toList();
    assertEquals(1, found.size(), "classes called " + outer + ": " + found);
    return Class.forName(found.getFirst() + name.substring(outer.length()));
  }

  /** Returns the schema of an object with a property for each component. */
  ObjectNode of(Class<?> record) throws IOException {
    ObjectNode schema = JsonNodeFactory.instance.objectNode();
    fill(schema, record, false);
    return schema;
  }

  private void fill(ObjectNode schema, Class<?> record, boolean nullable) throws IOException {
    type(schema, "object", nullable);
    Map<String, String> meanings = commentsOf(record);
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = schema.putArray("required");
    for (RecordComponent each : record.getRecordComponents()) {
      String name = SnakeCaseStrategy.INSTANCE.translate(each.getName());
      ObjectNode property = properties.putObject(name);
      String meaning = meanings.getOrDefault(each.getName(), "");
      if (!meaning.isEmpty()) {
        property.put("description", meaning);
      }
      fill(property, each.getAnnotatedType());
      required.add(name);
    }
  }

  private void fill(ObjectNode schema, AnnotatedType annotated) throws IOException {
    Type type = annotated.getType();
    boolean nullable = annotated.isAnnotationPresent(Nullable.class);
    if (type instanceof ParameterizedType of) {
      AnnotatedType[] arguments =
          ((AnnotatedParameterizedType) annotated).getAnnotatedActualTypeArguments();
      if (of.getRawType() == List.class) {
        type(schema, "array", nullable);
        fill(schema.putObject("items"), arguments[0]);
      } else {
        type(schema, "object", nullable);
        fill(schema.putObject("additionalProperties"), arguments[1]);
      }
      return;
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord()) {
      fill(schema, plain, nullable);
    } else if (plain.isEnum()) {
      ArrayNode names = schema.putArray("enum");
      for (Object each : plain.getEnumConstants()) {
        names.add(((Enum<?>) each).name());
      }
      if (nullable) {
        names.addNull();
      }
    } else {
      String word = word(plain);
      /* Jackson prints a number that isn't finite as null. */
      type(schema, word, nullable || word.equals("number"));
    }
  }

  private static void type(ObjectNode schema, String word, boolean nullable) {
    if (nullable) {
      schema.putArray("type").add(word).add("null");
    } else {
      schema.put("type", word);
    }
  }

  private static String word(Class<?> plain) {
    return switch (plain.getSimpleName()) {
      case "String" -> "string";
      case "boolean", "Boolean" -> "boolean";
      case "double", "Double" -> "number";
      case "int", "Integer", "long", "Long" -> "integer";
      default -> throw new AssertionError(plain + " has no type in JSON Schema");
    };
  }
}
