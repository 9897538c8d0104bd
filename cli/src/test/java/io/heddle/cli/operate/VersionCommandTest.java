package io.heddle.cli.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class VersionCommandTest {
  @TempDir private Path folder;

  @Test
  void commitAndTablesAreReadFromTheLibrarysBytes() throws Exception {
    Path library = folder.resolve("libnccl-net-heddle.so");
    Files.writeString(
        library,
        "\0ncclNetPlugin_v12\0ncclNetPlugin_v6\0ncclRmaPlugin_v14\0ncclNetPlugin_v6\0"
            + "heddle commit 0123456789ab\0");
    VersionCommand.Document document = VersionCommand.read(library);
    assertEquals("0123456789ab", document.commit());
    assertEquals(List.of("Net v6", "Net v12", "Rma v14"), document.tables());
    assertEquals(library.toString(), document.plugin());
    assertTrue(document.processors() > 0);
  }

  @Test
  void missingPluginLeavesTheRestOfTheReport() throws Exception {
    VersionCommand.Document document = VersionCommand.read(folder.resolve("none.so"));
    assertNull(document.plugin());
    assertNull(document.commit());
    assertEquals(List.of(), document.tables());
  }

  @Test
  void tableAndJsonArePrinted() throws Exception {
    String table = output();
    assertTrue(table.contains("java        " + System.getProperty("java.version")), table);
    String json = output("--json");
    assertEquals(
        System.getProperty("java.version"),
        new ObjectMapper().readTree(json).path("java").asText(),
        json);
  }

  private static String output(String... arguments) {
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new VersionCommand()).setOut(new PrintWriter(out)).execute(arguments);
    assertEquals(0, code, out.toString());
    return out.toString();
  }
}
