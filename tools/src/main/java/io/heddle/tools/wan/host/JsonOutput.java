package io.heddle.tools.wan.host;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Reader of the daemons' JSON answers, which it queries by the commands that an operator uses. */
public final class JsonOutput {
  private JsonOutput() {}

  /**
   * Returns the document that a command prints.
   *
   * @param command picocli command object, such as {@code new GatewayCommand()}
   * @param document record whose components are named like the JSON fields
   * @param words arguments of the command, including {@code --json}
   * @throws HeddleException with the command's message if it prints no document
   */
  public static <T> T of(Object command, Class<T> document, String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    line.setExecutionExceptionHandler((failed, of, parsed) -> {
      err.append(failed.getMessage());
      return 1;
    });
    line.execute(words);
    if (out.toString().isEmpty()) {
      throw new HeddleException(err.toString().strip());
    }
    try {
      return Json.mapper().readValue(out.toString(), document);
    } catch (JsonProcessingException malformed) {
      throw new HeddleException("an answer can't be parsed: " + out, malformed);
    }
  }
}
