package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.Option;
import io.heddle.transport.options.TransportOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Test that docs/configuration.md is the page that is generated from the options. */
@Execution(ExecutionMode.CONCURRENT)
class ConfigurationPageTest {
  private static final Path PAGE = Repository.ROOT.resolve("docs/configuration.md");
  private static final Path MADE = Repository.ROOT.resolve("system-tests/target/configuration.md");

  @Test
  void pageListsEveryOptionOfTheCode() throws Exception {
    String made = page();
    Files.writeString(MADE, made);
    String existing = Files.exists(PAGE) ? Files.readString(PAGE) : "";
    assertEquals(
        made, existing, () -> "to renew the page: cp system-tests/target/configuration.md docs/");
  }

  private static String page() {
    StringBuilder page = new StringBuilder();
    page.append("# Configuration\n\n");
    page.append(
        "Everything is set by environment variables, read once when NCCL initialises the"
            + " plugin.\n\n");
    page.append("| variable | unit | default | range | what for |\n|---|---|---|---|---|\n");
    for (Option<?> option : TransportOptions.ALL) {
      String standard = option.defaultText().isEmpty() ? "none" : "`" + option.defaultText() + "`";
      page.append(
          "| `%s` | %s | %s | %s | %s |\n"
              .formatted(
                  option.name(),
                  cell(option.unit()),
                  standard,
                  cell(option.range()),
                  cell(option.why())));
    }
    page.append("\n## Variables of NCCL's InfiniBand transport that aren't read\n\n");
    page.append("| variable | why |\n|---|---|\n");
    for (Map.Entry<String, String> foreign : TransportOptions.IGNORED.entrySet()) {
      page.append("| `%s` | %s |\n".formatted(foreign.getKey(), cell(foreign.getValue())));
    }
    return page.toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|");
  }
}
