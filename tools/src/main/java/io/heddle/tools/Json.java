package io.heddle.tools;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;

/** JSON as the commands print it: one document, names in snake case. */
public final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(SerializationFeature.INDENT_OUTPUT);

  private Json() {}

  public static String of(Object document) {
    try {
      return MAPPER.writeValueAsString(document);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("records of numbers and texts are JSON", impossible);
    }
  }

  /** The same format, for reading. */
  public static ObjectMapper mapper() {
    return MAPPER;
  }
}
