package io.heddle.systemtests.style;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that modules depend on each other only along the arrows in ARCHITECTURE.md, by the compiled
 * classes.
 */
@Execution(ExecutionMode.CONCURRENT)
class ArchitectureTest {
  private static final String ROOT_PACKAGE = "io.heddle.";
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("platform", Set.of()),
          Map.entry("daemon", Set.of("platform")),
          Map.entry("jextract", Set.of()),
          Map.entry("verbs", Set.of("platform", "jextract")),
          Map.entry("addr", Set.of("platform")),
          Map.entry("bpf", Set.of("platform")),
          Map.entry("gateway", Set.of("platform", "daemon", "addr", "bpf", "bgp", "telemetry")),
          Map.entry("telemetry", Set.of("platform")),
          Map.entry("routes", Set.of("platform")),
          Map.entry("bgp", Set.of("platform", "daemon", "addr")),
          Map.entry("controller", Set.of("platform", "daemon", "addr", "bgp", "telemetry")),
          Map.entry("bgpstub", Set.of("platform", "daemon", "addr", "routes", "bgp")),
          Map.entry("roce.wire", Set.of("platform", "verbs")),
          Map.entry("roce.transport", Set.of("platform", "verbs", "roce.wire")),
          Map.entry(
              "softdevice", Set.of("platform", "verbs", "addr", "roce.wire", "roce.transport")),
          Map.entry("reorder", Set.of("platform")),
          Map.entry("qppool", Set.of("platform", "verbs")),
          Map.entry("spray", Set.of("platform")),
          Map.entry("stats", Set.of("platform", "verbs")),
          Map.entry(
              "transport",
              Set.of("platform", "verbs", "addr", "routes", "reorder", "qppool", "spray", "stats")),
          Map.entry("plugin", Set.of("platform", "transport")),
          Map.entry(
              "perf",
              Set.of("platform", "roce.transport", "reorder", "routes", "spray", "transport")),
          Map.entry("perftest", Set.of("platform", "verbs", "addr", "spray")),
          Map.entry("sim", Set.of("platform", "spray", "routes", "bgp", "bgpstub")),
          Map.entry("bridge", Set.of("platform", "daemon", "verbs", "addr", "roce.wire")),
          Map.entry("fabric.model", Set.of("platform")),
          Map.entry("cli.kit", Set.of("platform")),
          Map.entry("cli.stat", Set.of("platform", "daemon", "addr", "stats", "cli.kit")),
          Map.entry(
              "cli.operate",
              Set.of(
                  "platform",
                  "daemon",
                  "addr",
                  "routes",
                  "bgp",
                  "bgpstub",
                  "stats",
                  "cli.kit",
                  "cli.stat")),
          Map.entry("cli.paths", Set.of("platform", "fabric.model", "cli.kit")),
          Map.entry(
              "cli.doctor",
              Set.of(
                  "platform",
                  "verbs",
                  "addr",
                  "routes",
                  "stats",
                  "cli.kit",
                  "cli.stat",
                  "cli.operate",
                  "cli.paths")),
          Map.entry(
              "cli.bridge",
              Set.of("platform", "daemon", "verbs", "addr", "roce.wire", "bridge", "cli.kit")),
          Map.entry(
              "cli.gateway",
              Set.of("platform", "daemon", "telemetry", "addr", "gateway", "cli.kit")),
          Map.entry("cli.controller", Set.of("platform", "daemon", "controller", "cli.kit")),
          Map.entry("cli.perf", Set.of("perftest")),
          Map.entry(
              "cli.heddle",
              Set.of(
                  "platform",
                  "cli.kit",
                  "cli.stat",
                  "cli.operate",
                  "cli.paths",
                  "cli.doctor",
                  "cli.bridge",
                  "cli.gateway",
                  "cli.controller",
                  "cli.perf")),
          Map.entry("tools.switching", Set.of("platform", "addr", "bpf", "fabric.model")),
          Map.entry(
              "tools.lab", Set.of("platform", "addr", "routes", "tools.switching", "cli.kit")),
          Map.entry(
              "tools.job", Set.of("platform", "addr", "stats", "cli.kit", "cli.stat", "tools.lab")),
          Map.entry(
              "tools.paths",
              Set.of("platform", "fabric.model", "cli.kit", "cli.paths", "tools.lab")),
          Map.entry("tools.simulate", Set.of("platform", "spray", "sim", "cli.kit")),
          Map.entry(
              "tools.bridge",
              Set.of("platform", "verbs", "bridge", "cli.kit", "cli.bridge", "tools.lab")),
          Map.entry(
              "tools.bench",
              Set.of("platform", "verbs", "tools.switching", "cli.kit", "tools.lab", "tools.job")),
          Map.entry(
              "tools.wan",
              Set.of(
                  "platform",
                  "addr",
                  "bgp",
                  "telemetry",
                  "gateway",
                  "controller",
                  "cli.kit",
                  "cli.gateway",
                  "cli.controller")),
          Map.entry(
              "tools.demo", Set.of("platform", "cli.kit", "tools.lab", "tools.job", "tools.wan")),
          Map.entry(
              "tools.soak", Set.of("platform", "cli.kit", "tools.lab", "tools.job", "tools.wan")),
          Map.entry(
              "tools",
              Set.of(
                  "cli.heddle",
                  "tools.lab",
                  "tools.paths",
                  "tools.simulate",
                  "tools.bridge",
                  "tools.bench",
                  "tools.demo",
                  "tools.soak")));

  private final JavaClasses classes = ImportedClasses.all();

  @Test
  void everyModulesClassesAreRead() {
    Set<String> modules = new TreeSet<>();
    classes.forEach(type -> modules.add(ModuleNames.of(type)));
    assertEquals(new TreeSet<>(MAY_USE.keySet()), modules, "the modules with classes");
  }

  @Test
  void callsOfTheJdkAreSeen() {
    assertThrows(
        AssertionError.class,
        () ->
            noClasses()
                .that()
                .resideInAPackage("io.heddle.cli..")
                .should()
                .callMethod(System.class, "nanoTime")
                .check(classes));
  }

  @Test
  void modulesUseOnlyWhatTheArrowsAllow() {
    Set<String> found = new TreeSet<>();
    int arrows = 0;
    for (JavaClass type : classes) {
      String user = ModuleNames.of(type);
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().startsWith(ROOT_PACKAGE)
            && !ModuleNames.of(target).equals(user)) {
          arrows++;
          if (!MAY_USE.getOrDefault(user, Set.of()).contains(ModuleNames.of(target))) {
            found.add(type.getName() + " uses " + target.getName());
          }
        }
      }
    }
    assertTrue(arrows > 0, "no dependency between modules found at all");
    assertEquals("", String.join("\n", found));
  }

  @Test
  void productionCodeNamesNoSoftDevice() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.heddle.softdevice..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.heddle.softdevice..")
        .because("providers are found by ServiceLoader")
        .check(classes);
  }

  @Test
  void thePluginUsesNothingOfTheGateways() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "io.heddle.plugin..",
            "io.heddle.transport..",
            "io.heddle.qppool..",
            "io.heddle.roce..",
            "io.heddle.softdevice..",
            "io.heddle.verbs..",
            "io.heddle.addr..",
            "io.heddle.platform..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.heddle.bpf..",
            "io.heddle.daemon..",
            "io.heddle.gateway..",
            "io.heddle.telemetry..",
            "io.heddle.controller..",
            "io.grpc..")
        .because("a job's process carries nothing of products between data centres")
        .check(classes);
  }

  @Test
  void pluginAndLibrariesDoNotUseBridge() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.heddle.bridge..", "io.heddle.cli..", "io.heddle.tools..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.heddle.bridge..")
        .because("it is a product: it uses libraries, and none names it")
        .check(classes);
  }

  @Test
  void transportPackagesAreLayered() {
    slices().matching("io.heddle.transport.(*)..").should().beFreeOfCycles().check(classes);
  }

  @Test
  void theRoceTransportHasNoSocketNoThreadAndNoClock() {
    noClasses()
        .that()
        .resideInAPackage("io.heddle.roce..")
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.lang\\.Thread|java\\.util\\.concurrent\\..*|java\\.net\\..*"
                + "|io\\.heddle\\.platform\\.(NanoClock|ResilientThread|LinuxCalls|SocketCalls)")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .because("a simulated fabric runs it in virtual time")
        .check(classes);
  }

  @Test
  void noUnsafeAndNoJavaUtilLoggingExceptForGrpc() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("io.heddle.telemetry.gnmi.GrpcLog")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.util.logging..", "jdk.internal..")
        .orShould()
        .dependOnClassesThat()
        .haveFullyQualifiedName("sun.misc.Unsafe")
        .check(classes);
  }

  @Test
  void onlyUnsafeFreePartsOfAgronaAndJctools() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("org.agrona..", "org.jctools..")
                .and(
                    not(
                        resideInAnyPackage(
                            "org.agrona.collections", "org.jctools.queues.atomic.."))))
        .because("the rest warns on standard error, or asks for the JDK's inner packages")
        .check(classes);
  }
}
