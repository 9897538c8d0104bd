package io.heddle.bgp.flowspec.session;

import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.platform.testing.NetworkNamespace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Network namespace with addresses on its loopback interface. Closing it ends the processes in it.
 */
final class LoopbackNamespace implements AutoCloseable {
  private final List<Process> processes = new ArrayList<>();
  /* Ends the processes in the namespace if a test is interrupted. */
  private final Thread atExit = new Thread(this::endProcesses, "end-processes");
  private final NetworkNamespace namespace;

  /** Skips the test if a namespace can't be created. */
  LoopbackNamespace(List<String> addresses) {
    NetworkNamespace.assumeAvailable();
    namespace = NetworkNamespace.create("loopback");
    Runtime.getRuntime().addShutdownHook(atExit);
    namespace.ip("link set lo up");
    for (String each : addresses) {
      namespace.ip("addr add " + each + "/128 dev lo nodad");
    }
  }

  /** Moves a speaker's thread into the namespace. */
  void moveIn(BgpSpeaker speaker) {
    speaker.callOnLoop(() -> {
      NetworkNamespace.enter(namespace.name());
      return namespace;
    });
  }

  void start(Path log, String... command) throws IOException {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", namespace.name()));
    whole.addAll(List.of(command));
    processes.add(
        new ProcessBuilder(whole).redirectErrorStream(true).redirectOutput(log.toFile()).start());
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    endProcesses();
    namespace.close();
  }

  private void endProcesses() {
    try {
      for (Process process : processes) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.waitFor(5, TimeUnit.SECONDS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
