package io.heddle.cli.operate;

import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.platform.NativeLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command {@code heddle version}: the versions of Heddle and its environment, for a bug report. */
@Command(
    name = "version",
    description =
        "Prints this command's version, the plugin beside it with its commit and NCCL tables, the"
            + " Java that runs this, the kernel, and whether libibverbs is present. Put it at the"
            + " top of a bug report.",
    mixinStandardHelpOptions = true)
public final class VersionCommand implements Callable<Integer> {
  private static final String LIBRARY = "libibverbs.so.1";

  /* Text in the plugin's library, which native/src/core.c puts there. */
  private static final Pattern COMMIT = Pattern.compile("heddle commit ([0-9a-z]+)");
  private static final Pattern TABLE = Pattern.compile("nccl(Net|Rma|Gin)Plugin_v([0-9]+)");

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  /**
   * The whole document.
   *
   * @param version version of this command; null if not packaged
   * @param plugin path of the plugin's library; null if missing
   * @param commit commit from which the plugin was built; null if unknown
   * @param tables the plugin's NCCL tables, such as Net v12
   * @param java version of the Java that runs this command
   * @param javaHome folder of this Java
   * @param kernel release of the kernel
   * @param architecture architecture of the processors
   * @param processors number of processors that this process may use
   * @param libibverbs whether libibverbs can be loaded
   */
  record Document(
      @Nullable String version,
      @Nullable String plugin,
      @Nullable String commit,
      List<String> tables,
      String java,
      String javaHome,
      String kernel,
      String architecture,
      int processors,
      boolean libibverbs) {}

  @Override
  public Integer call() throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    Document document = read(Installation.part(Installation.PLUGIN));
    if (json) {
      out.println(Json.of(document));
    } else {
      print(document, out);
    }
    return 0;
  }

  static Document read(Path library) throws IOException {
    boolean isBuilt = Files.isReadable(library);
    String words =
        isBuilt ? new String(Files.readAllBytes(library), StandardCharsets.ISO_8859_1) : "";
    Matcher commit = COMMIT.matcher(words);
    return new Document(
        VersionCommand.class.getPackage().getImplementationVersion(),
        isBuilt ? library.toString() : null,
        commit.find() ? commit.group(1) : null,
        tables(words),
        System.getProperty("java.version"),
        System.getProperty("java.home"),
        System.getProperty("os.version"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        hasLibibverbs());
  }

  private static List<String> tables(String words) {
    return TABLE
        .matcher(words)
        .results()
        .sorted(
            Comparator.comparing((MatchResult each) -> each.group(1))
                .thenComparingInt(each -> Integer.parseInt(each.group(2))))
        .map(each -> each.group(1) + " v" + each.group(2))
        .distinct()
        .toList();
  }

  private static boolean hasLibibverbs() {
    return new NativeLibrary(LIBRARY).function("ibv_open_device", 1).isPresent();
  }

  private static void print(Document document, PrintWriter out) {
    line(out, "heddle", Objects.requireNonNullElse(document.version(), "(not packaged)"));
    line(out, "plugin", Objects.requireNonNullElse(document.plugin(), "none beside this command"));
    if (document.plugin() != null) {
      line(out, "commit", Objects.requireNonNullElse(document.commit(), "unknown"));
      line(out, "tables", String.join(", ", document.tables()));
    }
    line(out, "java", document.java() + " at " + document.javaHome());
    line(
        out,
        "host",
        "Linux %s, %s, %s processors"
            .formatted(document.kernel(), document.architecture(), document.processors()));
    line(out, "libibverbs", document.libibverbs() ? LIBRARY : "none; the soft device needs none");
  }

  private static void line(PrintWriter out, String name, String value) {
    out.printf("%-12s%s%n", name, value);
  }
}
