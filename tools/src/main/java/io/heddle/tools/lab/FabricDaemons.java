package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.Shell;
import io.heddle.tools.lab.FabricTopology.Node;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Routing daemons of a fabric. This class starts them in the background, finds them by process ID,
 * and ends them.
 */
final class FabricDaemons {
  private static final long END_MS = 5_000;
  private static final long POLL_MS = 20;

  /**
   * Names of programs whose processes have files of the fabric's folder as arguments: the daemons,
   * ip, which starts them, and the launchers of {@link SwitchesCommand}.
   */
  private static final Set<String> PROGRAMS =
      Set.of("bird", "zebra", "bfdd", "bgpd", "ip", "setsid", "sh", "java");

  private final FabricTopology topology;
  private final FabricLinks links;
  private final FabricFolder folder;

  /**
   * Daemon process.
   *
   * @param program bird, zebra, bfdd or bgpd
   * @param pid process ID; 0 if the daemon hasn't written one
   * @param alive whether a process of the fabric has this ID
   */
  record Daemon(String program, long pid, boolean alive) {}

  /**
   * Numbers of a router's established BGP sessions.
   *
   * @param routers sessions with other routers
   * @param hosts sessions with hosts
   */
  record Sessions(int routers, int hosts) {}

  FabricDaemons(FabricTopology topology, FabricLinks links, FabricFolder folder) {
    this.topology = topology;
    this.links = links;
    this.folder = folder;
  }

  Path control(Node router) {
    return folder.file(router.name() + ".ctl");
  }

  private String configuration(Node router) {
    return router.name() + ".conf";
  }

  private FrrRouter frr(Node leaf) {
    return new FrrRouter(topology, links, folder, leaf);
  }

  void writeConfiguration(Node router, Collection<String> unreachable) {
    if (topology.isFrr(router)) {
      frr(router).writeConfiguration();
      return;
    }
    folder.write(
        configuration(router), new BirdConfig(topology, folder.path()).of(router, unreachable));
  }

  void start(Node router) {
    if (topology.isFrr(router)) {
      frr(router).start();
      return;
    }
    Shell.run(
        links.inside(
            router,
            List.of(
                "bird",
                "-c",
                folder.file(configuration(router)).toString(),
                "-s",
                control(router).toString(),
                "-P",
                folder.file(router.name() + ".pid").toString())));
  }

  /**
   * Reloads a router's configuration while its sessions stay up. Does nothing for FRR, whose
   * configuration never changes.
   */
  void reconfigure(Node router, Collection<String> unreachable) {
    if (topology.isFrr(router)) {
      return;
    }
    writeConfiguration(router, unreachable);
    String answer = Shell.run(List.of("birdc", "-s", control(router).toString(), "configure"));
    if (!answer.contains("Reconfigured") && !answer.contains("Reconfiguration in progress")) {
      throw new LabException(
          "BIRD on " + router.name() + " rejected its configuration: " + answer.strip());
    }
  }

  /** Returns the reply of birdc or vtysh to a command. */
  String query(Node router, String command) {
    if (topology.isFrr(router)) {
      return frr(router).query(command);
    }
    List<String> all = new ArrayList<>(List.of("birdc", "-r", "-s", control(router).toString()));
    all.addAll(List.of(command.split(" ")));
    return Shell.run(all);
  }

  /** Restarts the sessions of a BIRD leaf with the hosts at its ports h0 to h9. */
  void restartHostSessions(Node leaf) {
    String answer =
        Shell.run(List.of("birdc", "-s", control(leaf).toString(), "restart", "\"h?_*\""));
    if (!answer.contains("restarted")) {
      throw new LabException("BIRD on " + leaf.name() + " restarted no session: " + answer.strip());
    }
  }

  List<Daemon> of(Node router) {
    if (topology.isFrr(router)) {
      return frr(router).programs().stream()
          .map(program -> daemon(program, frr(router).processFile(program)))
          .toList();
    }
    return List.of(daemon("bird", folder.file(router.name() + ".pid")));
  }

  private Daemon daemon(String program, Path processFile) {
    long pid = number(processFile).orElse(0L);
    return new Daemon(program, pid, isOurs(folder.path(), pid));
  }

  /** Returns the numbers of a router's established sessions. */
  Sessions sessions(Node router) {
    if (topology.isFrr(router)) {
      return frr(router).sessions();
    }
    return birdSessions(query(router, "show protocols"));
  }

  /**
   * Counts the established sessions in BIRD's table of protocols. The name of a session with a host
   * begins with h, since it is derived from the name of the router's port.
   */
  static Sessions birdSessions(String protocols) {
    int routers = 0;
    int hosts = 0;
    for (String line : protocols.split("\n")) {
      if (line.contains(" BGP ") && line.contains("Established")) {
        if (line.startsWith("h")) {
          hosts++;
        } else {
          routers++;
        }
      }
    }
    return new Sessions(routers, hosts);
  }

  /*
   * Returns the process ID in a file; empty if there is none yet. BIRD creates the file empty and
   * writes to it later.
   */
  private static Optional<Long> number(Path file) {
    try {
      String text = Files.readString(file).strip();
      return text.isEmpty() ? Optional.empty() : Optional.of(Long.parseLong(text));
    } catch (NoSuchFileException missing) {
      return Optional.empty();
    } catch (IOException unreadable) {
      throw new LabException("can't read " + file + ": " + unreadable, unreadable);
    } catch (NumberFormatException garbage) {
      throw new LabException(
          file + " contains no process number: " + garbage.getMessage(), garbage);
    }
  }

  /**
   * Returns whether a process is a daemon of the fabric, that is, its command line names the
   * folder. The process ID alone isn't enough, since it may have been reused.
   */
  static boolean isOurs(Path folder, long pid) {
    List<String> arguments = pid > 0 ? arguments(pid) : List.of();
    return !arguments.isEmpty()
        && PROGRAMS.contains(String.valueOf(Path.of(arguments.getFirst()).getFileName()))
        && arguments.stream().anyMatch(argument -> argument.startsWith(folder + "/"));
  }

  /** Returns the arguments of a process; empty if it has ended or is a zombie. */
  private static List<String> arguments(long pid) {
    try {
      String line =
          Files.readString(
              Path.of("/proc", Long.toString(pid), "cmdline"), StandardCharsets.ISO_8859_1);
      return line.isEmpty() ? List.of() : List.of(line.split("\0"));
    } catch (IOException gone) {
      return List.of();
    }
  }

  /**
   * Ends the daemons of a fabric of which only the name is known. Daemons that a killed command was
   * starting are ended too.
   *
   * @return command lines of foreign processes in the fabric's namespaces, which keep running
   */
  static List<String> endAll(FabricFolder folder) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MS);
    for (; ; pause(POLL_MS)) {
      Set<Long> ours = ours(folder);
      List<NamespaceProcess> inside = processesIn(folder.name());
      /*
       * The namespaces are searched again in each iteration, since a daemon may have forked into
       * the background meanwhile.
       */
      inside.stream()
          .map(NamespaceProcess::pid)
          .filter(pid -> isOurs(folder.path(), pid))
          .forEach(ours::add);
      if (ours.isEmpty()) {
        return inside.stream().map(NamespaceProcess::text).toList();
      }
      boolean late = System.nanoTime() - deadline > 0;
      for (long pid : ours) {
        ProcessHandle.of(pid)
            .ifPresent(process -> {
              if (late) {
                process.destroyForcibly();
              } else {
                process.destroy();
              }
            });
      }
    }
  }

  private static Set<Long> ours(FabricFolder folder) {
    return ProcessHandle.allProcesses()
        .map(ProcessHandle::pid)
        .filter(pid -> isOurs(folder.path(), pid))
        .collect(Collectors.toCollection(HashSet::new));
  }

  /* Process in one of the fabric's namespaces. */
  private record NamespaceProcess(long pid, String text) {}

  private static List<NamespaceProcess> processesIn(String name) {
    List<NamespaceProcess> inside = new ArrayList<>();
    for (NetworkNamespace each : NetworkNamespaces.named(FabricLinks.prefix(name))) {
      String namespace = each.name();
      for (String pid : Shell.run(List.of("ip", "netns", "pids", namespace)).split("\\s+")) {
        String line = pid.isEmpty() ? "" : String.join(" ", arguments(Long.parseLong(pid)));
        if (!line.isEmpty()) {
          inside.add(
              new NamespaceProcess(Long.parseLong(pid), namespace + ": " + pid + " " + line));
        }
      }
    }
    return inside;
  }

  static void pause(long ms) {
    try {
      TimeUnit.MILLISECONDS.sleep(ms);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new LabException("interrupted while waiting", interrupted);
    }
  }
}
