package io.heddle.jextract;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Asks the C compiler what expressions over verbs.h are worth, all of them in one program. */
final class CompilerFacts {
  private static final List<String> COMPILE = List.of("cc", "-std=gnu11", "-w");

  private final Map<String, String> expressions = new LinkedHashMap<>();

  /** Skips the calling test where there is no compiler or no header. */
  static void assumeCompilerAndHeader(Path folder) throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("probe.c"), "#include <infiniband/verbs.h>\n");
    Process probe;
    try {
      probe = start(folder, "cc", "-fsyntax-only", source.toString());
    } catch (IOException absent) {
      assumeTrue(false, "no C compiler: " + absent.getMessage());
      return;
    }
    String said = new String(probe.getInputStream().readAllBytes());
    assumeTrue(probe.waitFor() == 0, "no headers of rdma-core (libibverbs-dev): " + said);
  }

  /** The expression is an integer of at most 64 bits; the name has no blank. */
  void ask(String name, String expression) {
    expressions.put(name, expression);
  }

  /** The value of every expression asked for, by name. */
  Map<String, Long> answer(Path folder) throws IOException, InterruptedException {
    StringBuilder text =
        new StringBuilder(
            """
            #include <infiniband/verbs.h>
            #include <stdalign.h>
            #include <stddef.h>
            #include <stdio.h>
            int main(void) {
            """);
    expressions.forEach((name, expression) ->
        text.append("  printf(\"%s %%lld\\n\", (long long)(%s));\n".formatted(name, expression)));
    Path source = Files.writeString(folder.resolve("facts.c"), text.append("}\n"));
    Path program = folder.resolve("facts");
    String[] compile = {"-o", program.toString(), source.toString()};
    run(
        folder,
        java.util.stream.Stream.concat(COMPILE.stream(), java.util.Arrays.stream(compile))
            .toArray(String[]::new));
    Map<String, Long> facts = new LinkedHashMap<>();
    for (String line : run(folder, program.toString()).lines().toList()) {
      int blank = line.indexOf(' ');
      facts.put(line.substring(0, blank), Long.parseLong(line.substring(blank + 1)));
    }
    return facts;
  }

  private static Process start(Path folder, String... command) throws IOException {
    return new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
  }

  private static String run(Path folder, String... command)
      throws IOException, InterruptedException {
    Process process = start(folder, command);
    String said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " failed:\n" + said);
    }
    return said;
  }
}
