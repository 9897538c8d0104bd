package io.heddle.plugin;

import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.transport.NetProperties;
import io.heddle.transport.Transport;
import io.heddle.transport.device.Providers;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Transport, opened by the first init and closed by the last finalize, and its devices' properties
 * as C reads them.
 *
 * <p>NCCL may initialise several communicators at once, from several threads. Up to interface
 * version 10, NCCL never finalizes, and the transport lives as long as the process.
 */
final class NcclDevices {
  /*
   * Time limit of the warm-up. NCCL needs about this long from init to its first connection. Code
   * that isn't compiled by then compiles later.
   */
  private static final long WARM_UP_NS = 120_000_000;

  private final HostTable host;
  private final Log log;
  private final Supplier<Providers> providers;
  private final Map<String, Long> strings = new HashMap<>();
  private volatile @Nullable Transport transport;
  private boolean warm;

  NcclDevices(HostTable host, Log log, Supplier<Providers> providers) {
    this.host = host;
    this.log = log;
    this.providers = providers;
  }

  /** Opens the transport, unless it is open. After a failure, the next call tries again. */
  synchronized void open() {
    if (transport == null) {
      Transport opened = Transport.open(System.getenv(), log, providers);
      transport = opened;
      String version = NcclDevices.class.getPackage().getImplementationVersion();
      log.info(
          "Heddle %s (commit %s) on NCCL's net v%d: %s",
          version == null ? "unpackaged" : version,
          host.commit(),
          host.abiVersion(),
          opened.describe());
      if (!warm) {
        warm = true;
        opened.startWarmUp(WARM_UP_NS);
      }
    }
  }

  /**
   * Closes the transport, of which no object may be in use. The next {@link #open} creates another
   * transport.
   */
  synchronized void close() {
    Transport opened = transport;
    if (opened != null) {
      transport = null;
      opened.close();
    }
  }

  boolean isOpen() {
    return transport != null;
  }

  /**
   * Returns the open transport.
   *
   * @throws IllegalStateException before a successful {@link #open}
   */
  Transport transport() {
    Transport opened = transport;
    if (opened == null) {
      throw new IllegalStateException("called before a successful init");
    }
    return opened;
  }

  synchronized void writeProperties(int device, long address) {
    NetProperties properties = transport().properties(device);
    put(address + PropertiesLayout.NAME, string(properties.name()));
    put(address + PropertiesLayout.PCI_PATH, string(properties.pciPath()));
    put(address + PropertiesLayout.GUID, properties.guid());
    put(address + PropertiesLayout.POINTER_SUPPORT, properties.pointerSupport());
    put(
        address + PropertiesLayout.REGISTRATION_IS_GLOBAL,
        properties.registrationIsGlobal() ? 1 : 0);
    put(address + PropertiesLayout.FORCE_FLUSH, properties.forceFlush() ? 1 : 0);
    put(address + PropertiesLayout.SPEED_MEGABITS_PER_SECOND, properties.speedMegabitsPerSecond());
    put(address + PropertiesLayout.PORT, properties.port());
    put(address + PropertiesLayout.LATENCY_US, Double.doubleToRawLongBits(properties.latencyUs()));
    put(address + PropertiesLayout.MAX_COMMS, properties.maxComms());
    put(address + PropertiesLayout.MAX_RECEIVES, properties.maxReceives());
    put(address + PropertiesLayout.MAX_P2P_BYTES, properties.maxP2pBytes());
    put(address + PropertiesLayout.MAX_COLLECTIVE_BYTES, properties.maxCollectiveBytes());
    put(address + PropertiesLayout.MAX_MULTI_REQUEST_SIZE, properties.maxMultiRequestSize());
    put(address + PropertiesLayout.RAIL_ID, properties.railId());
    put(address + PropertiesLayout.PLANE_ID, properties.planeId());
  }

  /*
   * Returns the address of a C string. NCCL keeps the pointer, so equal texts share one string that
   * is never freed.
   */
  private long string(@Nullable String text) {
    return text == null
        ? 0
        : strings.computeIfAbsent(text, t -> Arena.global().allocateFrom(t).address());
  }

  private static void put(long address, long value) {
    Memory.ALL.set(Memory.NATIVE_LONG, address, value);
  }
}
