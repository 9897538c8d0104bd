package io.heddle.bridge.cm;

import io.heddle.platform.Memory;
import java.util.Locale;

/**
 * SIDR_REQ: requests the number of a service's datagram queue pair from a host (InfiniBand
 * Architecture Specification, volume 1, section 12.11.1).
 *
 * <pre>
 *  0        1        2        3
 * |header, 24 bytes                     |   {@link ManagementDatagram}
 * |request id                           |
 * |partition key     |reserved          |
 * |service id, 8 bytes                  |
 * |private data, 216 bytes              |   RDMA CM's begins with {@link CmaHeader}
 * </pre>
 */
public final class SidrRequest {
  private static final int REQUEST_ID = 24;
  private static final int PARTITION_KEY = 28;
  private static final int SERVICE_ID = 32;
  private static final int PRIVATE_DATA = 40;

  private SidrRequest() {}

  /** Returns the request id, which the requester chooses and a reply repeats. */
  public static int requestId(long mad) {
    return Memory.ALL.get(Memory.NETWORK_INT, mad + REQUEST_ID);
  }

  public static void setRequestId(long mad, int requestId) {
    Memory.ALL.set(Memory.NETWORK_INT, mad + REQUEST_ID, requestId);
  }

  public static long serviceId(long mad) {
    return Memory.ALL.get(Memory.NETWORK_LONG, mad + SERVICE_ID);
  }

  /** Returns the address of the private data. */
  public static long privateData(long mad) {
    return mad + PRIVATE_DATA;
  }

  /** Writes a request with the default partition key and no private data. */
  public static void write(long mad, long transaction, int requestId, long serviceId) {
    ManagementDatagram.write(mad, CmMessage.SIDR_REQUEST, transaction);
    setRequestId(mad, requestId);
    Memory.ALL.set(Memory.NETWORK_SHORT, mad + PARTITION_KEY, (short) 0xffff);
    Memory.ALL.set(Memory.NETWORK_LONG, mad + SERVICE_ID, serviceId);
  }

  /** Returns a one-line description of a request. */
  public static String describe(long mad) {
    return String.format(
        Locale.ROOT,
        "SIDR_REQ 0x%08x, transaction 0x%016x, service 0x%016x%s",
        requestId(mad),
        ManagementDatagram.transaction(mad),
        serviceId(mad),
        CmaHeader.isService(serviceId(mad)) ? ", " + CmaHeader.describe(privateData(mad)) : "");
  }
}
