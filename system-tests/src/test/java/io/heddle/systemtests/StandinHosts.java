package io.heddle.systemtests;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two hosts in network namespaces, whose verbs devices are the stand-in's: each has the addresses
 * of its host's interfaces. The fabric is made before the first process and removed at the end.
 */
final class StandinHosts implements AutoCloseable {
  private static final Pattern GID =
      Pattern.compile("gid ([0-9]+)/([0-9]+) ([0-9]+) \\S+( cut)? sent_bytes ([0-9]+)");

  private final Lab lab;
  private final int devices;
  private final int addresses;
  private final Path fabric;
  private final Map<String, String> settings;

  private StandinHosts(
      Lab lab, int devices, int addresses, Path fabric, Map<String, String> settings) {
    this.lab = lab;
    this.devices = devices;
    this.addresses = addresses;
    this.fabric = fabric;
    this.settings = settings;
  }

  /**
   * @param addresses of each device, one plane each
   * @param settings STANDIN variables on top of those that say which devices there are
   */
  static StandinHosts create(int devices, int addresses, Path folder, Map<String, String> settings)
      throws IOException, InterruptedException {
    BuiltParts.standin();
    DemoProcess.assume(Lab.Kind.NAMESPACES);
    Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, devices * addresses, 9000));
    StandinHosts hosts =
        new StandinHosts(lab, devices, addresses, folder.resolve("fabric"), settings);
    try {
      hosts.control("create");
      hosts.control("host", "0");
      hosts.control("host", "1");
      return hosts;
    } catch (IOException | InterruptedException | RuntimeException | Error failed) {
      lab.close();
      throw failed;
    }
  }

  /** What a process on a host needs to see its devices. */
  Map<String, String> environment(int host) {
    List<String> gids = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      List<String> ofDevice = new ArrayList<>();
      for (int address = 0; address < addresses; address++) {
        ofDevice.add(LabPlan.address(host, device * addresses + address));
      }
      gids.add(String.join(",", ofDevice));
    }
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("LD_LIBRARY_PATH", BuiltParts.standin().getParent().toString());
    environment.put("STANDIN_FABRIC", fabric.toString());
    environment.put("STANDIN_HOST", Integer.toString(host));
    environment.put("STANDIN_DEVICES", Integer.toString(devices));
    environment.put("STANDIN_GIDS", String.join(";", gids));
    environment.put("HEDDLE_PROVIDER", "libibverbs");
    return environment;
  }

  HostProcess start(int host, Path log, Map<String, String> more, List<String> command)
      throws IOException {
    Map<String, String> environment = environment(host);
    environment.putAll(more);
    return HostProcess.start(lab, host, log, environment, command);
  }

  /** Runs the control program and returns what it printed. */
  String control(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(BuiltParts.standinControl().toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    int host = words.length == 2 && words[0].equals("host") ? Integer.parseInt(words[1]) : 0;
    builder.environment().putAll(environment(host));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError("standin-control " + String.join(" ", words) + ": " + said);
    }
    return said;
  }

  /** What a host has sent from each of its addresses, device by device. */
  List<Long> sentBytes(int host) throws IOException, InterruptedException {
    List<Long> sent = new ArrayList<>();
    Matcher line = GID.matcher(control("show"));
    while (line.find()) {
      if (Integer.parseInt(line.group(1)) == host && Integer.parseInt(line.group(3)) > 0) {
        sent.add(Long.parseLong(line.group(5)));
      }
    }
    return sent;
  }

  @Override
  public void close() throws IOException, InterruptedException {
    try {
      control("remove");
    } finally {
      lab.close();
    }
  }
}
