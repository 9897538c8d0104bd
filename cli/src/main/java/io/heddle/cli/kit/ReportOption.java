package io.heddle.cli.kit;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Options for the output form of a measurement, shared by the commands that measure. */
public final class ReportOption {
  @Option(names = "--json", description = "Print one JSON document instead of tables.")
  private boolean json;

  @Option(names = "--save", description = "Also write tables and JSON to perf-tests/results.")
  private boolean save;

  /** Returns today's date, for file names. */
  public static String today() {
    return LocalDate.now(ZoneOffset.UTC).toString();
  }

  public boolean isJson() {
    return json;
  }

  /**
   * Prints a report, and saves it with --save.
   *
   * @param spec the command to whose output the report is printed
   * @param name name of the saved files, without ending
   */
  public void publish(@Nullable CommandSpec spec, String name, String table, Object report)
      throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : table);
    out.flush();
    if (save) {
      Path folder = Files.createDirectories(Installation.results());
      Files.writeString(folder.resolve(name + ".txt"), table);
      Files.writeString(folder.resolve(name + ".json"), Json.of(report) + "\n");
    }
  }
}
