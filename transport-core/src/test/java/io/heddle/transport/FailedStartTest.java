package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightRules;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.device.Providers;
import io.heddle.verbs.Gid;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import io.heddle.verbs.testing.LoopbackFabric;
import io.heddle.verbs.testing.LoopbackProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a failed start leaves nothing open. */
@EndsWithin(60)
class FailedStartTest {
  private static final Gid PLANE = Ends.gid("127.0.79.1");

  @TempDir private Path folder;

  private final Provider provider = new Provider();
  private final Map<String, String> environment = new HashMap<>();
  private String refusedLine = "nothing is refused";

  /** Provider that remembers its ledger of open objects. */
  private static final class Provider implements VerbsProvider {
    private @Nullable LeakLedger ledger;

    @Override
    public String name() {
      return "loopback";
    }

    @Override
    public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger counted) {
      ledger = counted;
      return new LoopbackProvider(new LoopbackFabric(1), List.of(PLANE))
          .devices(environment, log, counted);
    }
  }

  @BeforeEach
  void set() {
    environment.putAll(
        Map.of(
            "HEDDLE_PLANES",
            "127.0.79.1=one",
            "HEDDLE_STATS_DIR",
            folder.resolve("stats").toString(),
            "HEDDLE_ROUTES",
            folder.resolve("routes").toString(),
            "NCCL_SOCKET_IFNAME",
            "lo"));
  }

  private Transport open() {
    return Transport.open(
        environment,
        (level, sentence) -> {
          if (sentence.contains(refusedLine)) {
            throw new AssertionError("as injected: " + sentence);
          }
        },
        () -> new Providers(List.of(provider)));
  }

  private static Set<String> openFiles() throws IOException {
    Set<String> open = new TreeSet<>();
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : files.toList()) {
        if (Files.isSymbolicLink(each)) {
          open.add(each.getFileName() + " " + Files.readSymbolicLink(each));
        }
      }
    }
    /* The descriptor by which /proc/self/fd itself is listed doesn't count. */
    return open.stream().filter(each -> !each.contains("/fd")).collect(Collectors.toSet());
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("heddle-"))
        .collect(Collectors.toSet());
  }

  private boolean isRoutesFileMapped() {
    try {
      return Files.readString(Path.of("/proc/self/maps")).contains(folder + "/routes");
    } catch (IOException unreadable) {
      throw new AssertionError(unreadable);
    }
  }

  /* Asserts that nothing is left, for any kind of failure. */
  private void assertReleasesAll(Class<? extends Throwable> end) throws IOException {
    try (RoutePublisher publisher =
        RoutePublisher.create(
            folder.resolve("routes"), "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM)) {
      publisher.setPlane(new PublishedPlane("one", null, 0, ""));
      publisher.goLive();
      publisher.heartbeat();
      publisher.commit();
      /*
       * A successful start comes first, since it loads classes and opens descriptors that the
       * process keeps.
       */
      String refused = refusedLine;
      refusedLine = "nothing is refused";
      Map<String, String> asked = Map.copyOf(environment);
      environment.put("NCCL_SOCKET_IFNAME", "lo");
      open().close();
      environment.putAll(asked);
      refusedLine = refused;
      Ends.await("the end of its threads", () -> threads().isEmpty());
      Set<String> before = openFiles();

      assertThrows(end, this::open);

      Ends.await("the end of all threads", () -> threads().isEmpty());
      assertEquals(before, openFiles());
      LeakLedger ledger = provider.ledger;
      assertNotNull(ledger);
      assertEquals(Map.of(), ledger.open());
    }
    assertFalse(isRoutesFileMapped(), "the routes are mapped");
  }

  @Test
  void startWithoutAControlAddressLeavesNothing() throws IOException {
    environment.put("NCCL_SOCKET_IFNAME", "nosuch9");
    assertReleasesAll(HeddleException.class);
  }

  @Test
  void startWithAFailingLogLeavesNothing() throws IOException {
    refusedLine = "not a plane: ";
    assertReleasesAll(AssertionError.class);
  }

  @Test
  void stepsAreUndoneInReverseOrderDespiteExceptions() {
    List<String> undone = new ArrayList<>();
    OpenedResources opened = new OpenedResources();
    opened.onFailure(() -> undone.add("first"));
    opened.onFailure(() -> {
      throw new IllegalStateException("stuck");
    });
    opened.onFailure(() -> undone.add("last"));
    Error cause = new AssertionError("as injected");
    opened.undo(cause);
    assertEquals(List.of("last", "first"), undone);
    assertEquals("stuck", cause.getSuppressed()[0].getMessage());
  }

  @Test
  void failedListenKeepsNoDescriptor() throws IOException {
    InetAddress ignoreFailure = InetAddress.getByName("192.0.2.1");
    assertListenFails(ignoreFailure);
    Set<String> before = openFiles();
    assertListenFails(ignoreFailure);
    assertEquals(before.size(), openFiles().size(), () -> "before " + before);
  }

  private static void assertListenFails(InetAddress address) {
    try (ControlLoop loop = new ControlLoop(NanoClock.SYSTEM, (level, sentence) -> {})) {
      listen(loop, address);
    }
  }

  private static void listen(ControlLoop loop, InetAddress address) {
    assertThrows(
        HeddleException.class,
        () ->
            new ControlListener(
                loop,
                address,
                () -> {
                  throw new IllegalStateException("no caller");
                }));
  }
}
