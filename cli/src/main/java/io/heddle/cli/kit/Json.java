package io.heddle.cli.kit;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;

/** Formatter of the JSON that commands print: one document, with names in snake case. */
public final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(SerializationFeature.INDENT_OUTPUT);

  static {
    SimpleModule module = new SimpleModule();
    module.addSerializer(Double.class, new FiniteNumbers());
    module.addSerializer(double.class, new FiniteNumbers());
    module.addDeserializer(double.class, new NumbersOrNaN());
    MAPPER.registerModule(module);
  }

  private Json() {}

  /** Serializer of doubles. JSON has no infinity and no NaN, so these become null. */
  private static final class FiniteNumbers extends JsonSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator to, SerializerProvider from)
        throws IOException {
      if (Double.isFinite(value)) {
        to.writeNumber(value);
      } else {
        to.writeNull();
      }
    }
  }

  /** Deserializer of doubles, for which null is NaN and not 0. */
  private static final class NumbersOrNaN extends JsonDeserializer<Double> {
    @Override
    public Double deserialize(JsonParser from, DeserializationContext context) throws IOException {
      return from.getDoubleValue();
    }

    @Override
    public Double getNullValue(DeserializationContext context) {
      return Double.NaN;
    }
  }

  public static String of(Object document) {
    try {
      return MAPPER.writeValueAsString(document);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException("records of numbers and texts are JSON", impossible);
    }
  }

  /** Returns the Jackson mapper that reads and writes this format. */
  public static ObjectMapper mapper() {
    return MAPPER;
  }
}
