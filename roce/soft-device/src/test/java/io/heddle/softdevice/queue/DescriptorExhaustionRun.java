package io.heddle.softdevice.queue;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.SystemCallException;
import io.heddle.platform.testing.DescriptorExhaustion;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;

/**
 * Separate program that opens the device with few free descriptors. Prints the largest number of
 * free descriptors with which opening fails.
 */
final class DescriptorExhaustionRun {
  private DescriptorExhaustionRun() {}

  public static void main(String[] arguments) {
    System.out.println(DescriptorExhaustion.mostRefused(DescriptorExhaustionRun::opens));
  }

  private static boolean opens() {
    LeakLedger ledger = new LeakLedger();
    try {
      new SoftDevice(
              new SoftPort("127.0.0.1=0"),
              false,
              RocePorts.STANDARD,
              SourcePorts.ANY,
              Log.toStandardError(),
              ledger,
              arena -> PacketGate.OPEN)
          .open()
          .close();
      return true;
    } catch (SystemCallException refused) {
      if (refused.errno() != Errno.EMFILE) {
        throw refused;
      }
      return false;
    } finally {
      if (!ledger.isEmpty()) {
        throw new AssertionError("left open: " + ledger.open());
      }
    }
  }
}
