package io.heddle.transport;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Everything that the plugin asks of Heddle, for the devices of one provider. */
public final class Transport {
  private static final int HOST_MEMORY = 1;
  private static final int MAX_RECEIVES = 8;
  private static final long LARGEST_MESSAGE_BYTES = 1L << 30;

  private final String provider;
  private final List<DeviceContext> devices;

  private Transport(String provider, List<DeviceContext> devices) {
    this.provider = provider;
    this.devices = devices;
  }

  /**
   * Opens the devices of the first provider that has some.
   *
   * @param environment option values by name
   * @throws HeddleException when no provider has a device
   */
  public static Transport open(Map<String, String> environment, Log log) {
    String wish = environment.getOrDefault("HEDDLE_PROVIDER", "auto");
    LeakLedger ledger = new LeakLedger();
    List<String> asked = new ArrayList<>();
    for (VerbsProvider provider : ServiceLoader.load(VerbsProvider.class, Transport.class.getClassLoader())) {
      if (wish.equals("auto") || wish.equals(provider.name())) {
        asked.add(provider.name());
        List<RdmaDevice> found = provider.devices(environment, log, ledger);
        if (!found.isEmpty()) {
          return new Transport(provider.name(), found.stream().map(RdmaDevice::open).toList());
        }
      }
    }
    throw new HeddleException(
        "no RDMA device (HEDDLE_PROVIDER=%s, asked %s); look at the addresses of this host's interfaces"
            .formatted(wish, asked));
  }

  public int deviceCount() {
    return devices.size();
  }

  /** The provider, its devices and planes, for the log. */
  public String describe() {
    return "provider %s, devices %s"
        .formatted(provider, devices.stream().map(context -> context.device().name()).toList());
  }

  /**
   * @throws HeddleException when there is no such device
   */
  public NetProperties properties(int device) {
    DeviceContext context = device(device);
    var attributes = context.attributes();
    var port = context.port();
    return new NetProperties(
        context.device().name(),
        attributes.pciPath(),
        attributes.guid(),
        HOST_MEMORY,
        true,
        false,
        port.speedBitsPerSecond() / 1_000_000,
        port.number(),
        0,
        attributes.maxQueuePairs(),
        MAX_RECEIVES,
        LARGEST_MESSAGE_BYTES,
        LARGEST_MESSAGE_BYTES,
        1,
        -1,
        -1);
  }

  private DeviceContext device(int device) {
    if (device < 0 || device >= devices.size()) {
      throw new HeddleException("there is no device %d; there are %d".formatted(device, devices.size()));
    }
    return devices.get(device);
  }

  /** Writes the 128-byte handle that NCCL carries to the connecting side. Never blocks. */
  public ListenComm listen(int device, long handleAddress) {
    throw connectionsAreMissing();
  }

  /**
   * Connects step by step; the state between two calls is kept in the handle's buffer.
   *
   * @param trafficClass -1 where undefined
   * @return null: call again
   */
  public @Nullable SendComm connect(int device, int trafficClass, long handleAddress) {
    throw connectionsAreMissing();
  }

  /**
   * @return null: call again
   */
  public @Nullable RecvComm accept(ListenComm listener) {
    throw connectionsAreMissing();
  }

  private static HeddleException connectionsAreMissing() {
    return new HeddleException("this build has no connections yet");
  }
}
