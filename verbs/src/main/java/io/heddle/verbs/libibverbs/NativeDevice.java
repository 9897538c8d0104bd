package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/** Port of a libibverbs device. */
final class NativeDevice implements RdmaDevice {
  private final String deviceName;
  private final String name;
  private final int port;
  private final Log log;
  private final LeakLedger ledger;

  private NativeDevice(String deviceName, int port, boolean onlyPort, Log log, LeakLedger ledger) {
    this.deviceName = deviceName;
    this.name = onlyPort ? deviceName : deviceName + ":" + port;
    this.port = port;
    this.log = log;
    this.ledger = ledger;
  }

  /**
   * Lists the ports. A single port has the device's name. With several ports, each name ends with
   * the port's number, as in NCCL_IB_HCA.
   *
   * @throws VerbsException if the device can't be opened to count its ports
   */
  static List<NativeDevice> portsOf(DeviceList.Entry entry, Log log, LeakLedger ledger) {
    long context = Verb.OPEN_DEVICE.call("device " + entry.name(), entry.address());
    try {
      int ports = DeviceQuery.read(context, entry.name()).ports();
      List<NativeDevice> devices = new ArrayList<>();
      for (int port = 1; port <= ports; port++) {
        devices.add(new NativeDevice(entry.name(), port, ports == 1, log, ledger));
      }
      return devices;
    } finally {
      Verb.CLOSE_DEVICE.call("device " + entry.name(), context);
    }
  }

  @Override
  public String name() {
    return name;
  }

  int port() {
    return port;
  }

  @Override
  public DeviceContext open() {
    try (DeviceList list = DeviceList.read()) {
      for (DeviceList.Entry entry : list.entries()) {
        if (entry.name().equals(deviceName)) {
          long context = Verb.OPEN_DEVICE.call("device " + deviceName, entry.address());
          try {
            OpenPort opened = new OpenPort(name, port, context, entry.systemPath(), log, ledger);
            return new NativeContext(this, opened, entry.systemPath());
          } catch (RuntimeException failure) {
            Verb.CLOSE_DEVICE.attempt(context);
            throw failure;
          }
        }
      }
    }
    throw new VerbsException(
        "open_device", "device " + deviceName + ", which no longer exists", Errno.ENODEV);
  }
}
