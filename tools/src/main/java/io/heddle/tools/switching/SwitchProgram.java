package io.heddle.tools.switching;

import io.heddle.bpf.BpfMap;
import io.heddle.bpf.BpfObject;
import io.heddle.bpf.BpfProgram;
import io.heddle.bpf.TcIngress;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * BPF program on the ports of one switch, with its maps. The program stays attached when the
 * process ends, so that another process can find it there. Used by one thread at a time.
 */
final class SwitchProgram implements AutoCloseable {
  private static final String PROGRAM = "heddle_switch";
  private static final BpfObject OBJECT = BpfObject.of(SwitchProgram.class, "switch.bpf.o");
  private static final int PRIORITY = 18_600;
  private static final int HANDLE = 1;

  private final LabSwitch own;
  private final BpfProgram program;
  private final List<GroupLoads> loads;
  private final List<String> ports;

  private SwitchProgram(LabSwitch own, BpfProgram program) {
    this.own = own;
    this.program = program;
    loads = own.groups().stream().map(GroupLoads::new).toList();
    ports = new ArrayList<>(own.ports());
  }

  /**
   * Returns everything that this build or machine lacks for the program, with the remedies; empty
   * if it can be loaded.
   */
  static Optional<String> refusal() {
    return OBJECT.refusal();
  }

  /** Loads a program for a switch. Doesn't attach it. */
  static SwitchProgram load(LabSwitch own) {
    SwitchProgram fresh = new SwitchProgram(own, OBJECT.load(PROGRAM));
    try {
      for (int group = 0; group < own.groups().size(); group++) {
        fresh.write(group);
        byte[] prefix = SwitchMaps.prefix(own.groups().get(group).prefix());
        fresh.map("routes").put(prefix, SwitchMaps.number(group));
      }
      return fresh;
    } catch (RuntimeException refused) {
      fresh.close();
      throw refused;
    }
  }

  /** Attaches the program to the switch's ports. */
  void attach() {
    NetworkNamespace.call(
        own.namespace(),
        () -> {
          for (String port : ports) {
            place(port).attach(program);
          }
          return true;
        });
  }

  /** Adds a port whose incoming packets are switched. */
  void addPort(String port) {
    NetworkNamespace.call(
        own.namespace(),
        () -> {
          place(port).attach(program);
          return ports.add(port);
        });
  }

  /** Returns the program that is attached to a switch's ports; empty if there is none. */
  static Optional<SwitchProgram> find(LabSwitch own) {
    return NetworkNamespace.call(own.namespace(), () -> place(own.ports().getFirst()).find())
        .filter(found -> found.name().equals(PROGRAM))
        .map(found -> new SwitchProgram(own, found));
  }

  private static TcIngress place(String port) {
    return new TcIngress(LinuxCalls.interfaceIndex(port), PRIORITY, HANDLE);
  }

  BpfProgram loaded() {
    return program;
  }

  private BpfMap map(String name) {
    return program.map(name);
  }

  private void write(int group) {
    map("groups").put(SwitchMaps.number(group), loads.get(group).value());
  }

  /** Changes the switching mode. */
  void configure(SwitchingMode mode, SprayScope scope) {
    clear("spray_ports");
    clear("spray_prefixes");
    List<String> ports = scope.portsOf(own);
    NetworkNamespace.call(
        own.namespace(),
        () -> {
          for (String port : ports) {
            map("spray_ports")
                .put(SwitchMaps.number(LinuxCalls.interfaceIndex(port)), SwitchMaps.number(1));
          }
          return true;
        });
    scope
        .prefixes()
        .forEach(
            prefix -> map("spray_prefixes").put(SwitchMaps.prefix(prefix), SwitchMaps.number(1)));
    map("settings")
        .put(
            SwitchMaps.number(0),
            SwitchMaps.settings(
                own.seed(), mode, !scope.ports().isEmpty(), !scope.prefixes().isEmpty()));
  }

  private void clear(String name) {
    List<byte[]> keys = new ArrayList<>();
    map(name)
        .forEach((key, value) -> {
          byte[] copy = new byte[map(name).keyBytes()];
          key.get(copy);
          keys.add(copy);
        });
    map(name).removeAll(keys);
  }

  /**
   * Sets which links of a group may be selected.
   *
   * @param alive one flag per member
   */
  void setAlive(int group, boolean[] alive) {
    loads.get(group).setAlive(alive);
    write(group);
  }

  /** Sets the current rates of a group's links, bit/s. */
  void setRates(int group, long[] bitsPerSecond) {
    if (loads.get(group).setRates(bitsPerSecond)) {
      write(group);
    }
  }

  /**
   * Updates the loads of a group's links at the end of an interval, and passes their order to the
   * program.
   *
   * @param queueBytes bytes in each member's queue now
   */
  void detect(int group, long[] queueBytes) {
    loads.get(group).detect(sentBytes(group), queueBytes, System.nanoTime());
    write(group);
  }

  /**
   * Returns whether nothing was sent since the last update and no queue had bytes then. The loads
   * don't need an update in that case.
   */
  boolean isIdle() {
    for (int group = 0; group < loads.size(); group++) {
      if (!loads.get(group).isIdle(sentBytes(group))) {
        return false;
      }
    }
    return true;
  }

  private long[] sentBytes(int group) {
    ByteBuffer counts = counts(group);
    long[] sent = new long[own.groups().get(group).members().size()];
    for (int i = 0; i < sent.length; i++) {
      int at = i * SwitchMaps.COUNT_BYTES;
      sent[i] = counts.getLong(at + 8) + counts.getLong(at + 24);
    }
    return sent;
  }

  private ByteBuffer counts(int group) {
    return map("counts").lookup(SwitchMaps.number(group)).orElseThrow();
  }

  /** Returns packets and bytes of each link of each group, in the order of groups and members. */
  List<LinkCount> counts() {
    List<LinkCount> found = new ArrayList<>();
    for (int number = 0; number < own.groups().size(); number++) {
      SwitchGroup group = own.groups().get(number);
      ByteBuffer counts = counts(number);
      ByteBuffer value = map("groups").lookup(SwitchMaps.number(number)).orElseThrow();
      for (int i = 0; i < group.members().size(); i++) {
        int at = i * SwitchMaps.COUNT_BYTES;
        found.add(
            new LinkCount(
                own.name(),
                group.prefix(),
                group.members().get(i).link(),
                SwitchMaps.isLiving(value, i),
                counts.getLong(at),
                counts.getLong(at + 8),
                counts.getLong(at + 16),
                counts.getLong(at + 24),
                counts.getLong(at + 32)));
      }
    }
    return found;
  }

  /** Removes the program from the switch. */
  void remove() {
    NetworkNamespace.call(
        own.namespace(),
        () -> {
          for (String port : ports) {
            place(port).detach();
          }
          return true;
        });
  }

  /** Releases this process's resources. The switch keeps forwarding. */
  @Override
  public void close() {
    program.close();
  }
}
