package io.heddle.tools.lab;

import io.heddle.platform.Shell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lab whose hosts have verbs devices of the stand-in for libibverbs (perf-tests/standin). With
 * STANDIN_PORTS among the settings, the lab's devices are ports of that many to a verbs device.
 * Each device has several addresses of its host's interfaces; each interface is a plane. The
 * devices exist before the first process starts. Closing the lab removes them.
 */
public final class StandinLab implements Lab {
  private static final Pattern GID =
      Pattern.compile("gid ([0-9]+)/([0-9:]+) ([0-9]+) \\S+( cut)? sent_bytes ([0-9]+)");
  private static final int MTU_BYTES = 9000;

  private final Lab hosts;
  private final int devices;
  private final int addresses;
  private final Parts parts;
  private final Path fabric;
  private final Map<String, String> settings;

  /**
   * Files of the built stand-in.
   *
   * @param library path of {@code libibverbs.so.1}, which is alone in its folder
   * @param control path of the program {@code standin-control}
   */
  public record Parts(Path library, Path control) {}

  private StandinLab(
      Lab hosts,
      int devices,
      int addresses,
      Parts parts,
      Path fabric,
      Map<String, String> settings) {
    this.hosts = hosts;
    this.devices = devices;
    this.addresses = addresses;
    this.parts = parts;
    this.fabric = fabric;
    this.settings = Map.copyOf(settings);
  }

  /**
   * Creates the lab.
   *
   * @param devices number of devices of each host
   * @param addresses number of addresses of each device
   * @param fabric file that the processes share; may not exist yet
   * @param settings STANDIN variables in addition to the variables that define the devices
   * @throws io.heddle.platform.HeddleException if hosts or devices can't be created. The hosts are
   *     removed then; the caller removes the file.
   */
  public static StandinLab create(
      Kind kind,
      int ranks,
      int devices,
      int addresses,
      Parts parts,
      Path fabric,
      Map<String, String> settings) {
    Lab hosts = Labs.create(kind, new LabPlan(ranks, devices * addresses, MTU_BYTES));
    StandinLab lab = new StandinLab(hosts, devices, addresses, parts, fabric, settings);
    try {
      lab.control("create");
      for (int rank = 0; rank < ranks; rank++) {
        lab.control(rank, "host", Integer.toString(rank));
      }
      return lab;
    } catch (RuntimeException failed) {
      hosts.close();
      throw failed;
    }
  }

  @Override
  public Kind kind() {
    return hosts.kind();
  }

  @Override
  public LabPlan plan() {
    return hosts.plan();
  }

  @Override
  public List<String> command(int rank, List<String> command) {
    return hosts.command(rank, command);
  }

  @Override
  public Map<String, String> environment(int rank) {
    Map<String, String> environment = new HashMap<>(hosts.environment(rank));
    environment.putAll(devicesOf(rank));
    environment.put("HEDDLE_PROVIDER", "libibverbs");
    return environment;
  }

  private Map<String, String> devicesOf(int rank) {
    List<String> gids = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      List<String> ofDevice = new ArrayList<>();
      for (int address = 0; address < addresses; address++) {
        ofDevice.add(LabPlan.address(rank, device * addresses + address));
      }
      gids.add(String.join(",", ofDevice));
    }
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("LD_LIBRARY_PATH", Objects.toString(parts.library().getParent()));
    environment.put("STANDIN_FABRIC", fabric.toString());
    environment.put("STANDIN_HOST", Integer.toString(rank));
    int ports = Integer.parseInt(settings.getOrDefault("STANDIN_PORTS", "1"));
    environment.put("STANDIN_DEVICES", Integer.toString(devices / ports));
    environment.put("STANDIN_GIDS", String.join(";", gids));
    return environment;
  }

  /**
   * Runs the control program, which cuts and heals devices and removes addresses. Its help
   * describes the arguments.
   *
   * @return output of the program
   * @throws io.heddle.platform.HeddleException if the program fails, with its output
   */
  public String control(String... words) {
    return control(0, words);
  }

  private String control(int rank, String... words) {
    List<String> command = new ArrayList<>(List.of("/usr/bin/env"));
    devicesOf(rank).forEach((name, value) -> command.add(name + "=" + value));
    command.add(parts.control().toString());
    command.addAll(List.of(words));
    return Shell.run(command);
  }

  /**
   * Returns the number of bytes that a host has sent from each of its addresses, device by device.
   */
  public List<Long> sentBytes(int rank) {
    List<Long> sent = new ArrayList<>();
    Matcher line = GID.matcher(control("show"));
    while (line.find()) {
      /* Entry 0 of a device is its link-local address, which isn't counted. */
      if (Integer.parseInt(line.group(1)) == rank && Integer.parseInt(line.group(3)) > 0) {
        sent.add(Long.parseLong(line.group(5)));
      }
    }
    return sent;
  }

  @Override
  public List<Long> sentBytesByPlane() {
    List<Long> sum = new ArrayList<>(Collections.nCopies(devices * addresses, 0L));
    for (int rank = 0; rank < plan().ranks(); rank++) {
      List<Long> sent = sentBytes(rank);
      for (int plane = 0; plane < sum.size(); plane++) {
        sum.set(plane, sum.get(plane) + sent.get(plane));
      }
    }
    return sum;
  }

  @Override
  public void close() {
    try {
      control("remove");
    } finally {
      hosts.close();
    }
  }
}
