package io.heddle.cli.stat;

import io.heddle.cli.kit.Json;
import io.heddle.stats.ProcessStats;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command {@code heddle errors}: the distinct errors of the plugin's processes. */
@Command(
    name = "errors",
    description =
        "Shows the warnings of every process with the plugin, each distinct one once, with count,"
            + " first and last time; sentences that differ only in numbers count as one.",
    mixinStandardHelpOptions = true,
    exitCodeList = {"0:There are no errors.", "1:There are errors."})
public final class ErrorsCommand implements Callable<Integer> {
  private static final int FOUND = 1;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Option(names = "--pid", paramLabel = "PROCESS", description = "Of this process only.")
  private @Nullable Long processId;

  @CommandLine.Mixin private final StatsOption stats = new StatsOption();

  /**
   * One error, as --json shows it.
   *
   * @param process ID of the process
   * @param count number of occurrences
   * @param first time of the first occurrence, ISO 8601
   * @param last time of the last occurrence, ISO 8601
   * @param sentence text of the first occurrence
   */
  record ErrorEntry(long process, long count, String first, String last, String sentence) {
    static ErrorEntry of(ProcessStats process, ProcessStats.DistinctError error) {
      return new ErrorEntry(
          process.processId(),
          error.count(),
          Instant.ofEpochMilli(error.firstMs()).toString(),
          Instant.ofEpochMilli(error.lastMs()).toString(),
          error.sentence());
    }
  }

  /**
   * The whole document.
   *
   * @param processCount number of processes whose statistics were read
   * @param lostErrors number of warnings that the processes dropped for lack of space
   * @param unreadable statistics files that can't be read, each with the reason
   */
  record Document(
      int processCount, long lostErrors, List<ErrorEntry> errors, List<String> unreadable) {}

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    StatsFolders folders = stats.folders();
    StatsFolders.Found found = folders.read(processId);
    List<ProcessStats> processes = found.processes();
    if (processId != null && processes.isEmpty()) {
      throw folders.missingStatistics(processId);
    }
    List<ErrorEntry> errors = new ArrayList<>();
    for (ProcessStats process : processes) {
      process.errors().forEach(error -> errors.add(ErrorEntry.of(process, error)));
    }
    errors.sort(Comparator.comparing(ErrorEntry::last).reversed());
    long lost = processes.stream().mapToLong(ProcessStats::errorsLost).sum();
    Document document = new Document(processes.size(), lost, errors, found.unreadable());
    if (json) {
      out.println(Json.of(document));
    } else {
      print(document, folders, out);
    }
    out.flush();
    return errors.isEmpty() ? 0 : FOUND;
  }

  private static void print(Document document, StatsFolders folders, PrintWriter out) {
    document.unreadable().forEach(sentence -> out.println("heddle: " + sentence));
    if (document.processCount() == 0) {
      out.println(folders.noProcessText());
    } else if (document.errors().isEmpty()) {
      out.printf(
          "no errors in %s processes (%s)%n", document.processCount(), folders.description());
    }
    for (ErrorEntry error : document.errors()) {
      out.printf(
          "%6sx  %s to %s  process %s%n        %s%n",
          error.count(),
          time(error.first()),
          time(error.last()),
          error.process(),
          error.sentence());
    }
    if (document.lostErrors() > 0) {
      out.printf("and %s warnings dropped for lack of space%n", document.lostErrors());
    }
  }

  private static String time(String instant) {
    return TIME.format(Instant.parse(instant));
  }
}
