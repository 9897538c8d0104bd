package io.heddle.systemtests;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.Deadline;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@code heddle demo} in a separate process, with its output in files. */
public final class DemoProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 120;

  private final Process process;
  private final Path out;
  private final Path err;

  private DemoProcess(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static DemoProcess start(Path folder, String... options) throws IOException {
    return startBehind(List.of(), folder, options);
  }

  /** Starts a demo as the arguments of another command, which executes them. */
  static DemoProcess startBehind(List<String> before, Path folder, String... options)
      throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(HeddleRun.command("demo"));
    command.addAll(List.of(options));
    Path out = folder.resolve("demo.out");
    Path err = folder.resolve("demo.err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    /* Makes the demo put its run folder, which has the ranks' logs, into the test's folder. */
    builder.environment().put("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder);
    return new DemoProcess(builder.start(), out, err);
  }

  int exitCode() throws InterruptedException {
    return exitCode(LIMIT_SECONDS);
  }

  int exitCode(long limitSeconds) throws InterruptedException {
    if (!Deadline.ofSeconds(limitSeconds).awaitExit(process)) {
      throw new AssertionError("heddle demo didn't end within " + limitSeconds + " s");
    }
    return process.exitValue();
  }

  /** Returns all output of the demo so far, from both streams. */
  String output() throws IOException {
    return Files.readString(out) + Files.readString(err);
  }

  /** Returns all output of the demo so far, or the reason why it can't be read. */
  String outputOrWhyNot() {
    try {
      return output();
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }

  JsonNode json() throws IOException {
    return new ObjectMapper().readTree(Files.readString(out));
  }

  void terminate() {
    process.destroy();
  }

  /** Kills the demo with SIGKILL, as the kernel does when memory runs out. */
  void kill() {
    process.destroyForcibly();
  }

  long pid() {
    return process.pid();
  }

  List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  /** Returns the names of the network namespaces that the demo has created. */
  List<String> namespaces() throws IOException {
    Path folder = Path.of("/run/netns");
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(folder, "heddle-" + process.pid() + "-*")) {
        files.forEach(file -> names.add(file.getFileName().toString()));
      }
    }
    return names;
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(15, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
