package io.heddle.softdevice;

/**
 * What may be done to which memory by packets of one protection domain. Under the progress lock.
 */
final class MemoryRights {
  private final RegionTable regions;
  private final int domain;

  MemoryRights(RegionTable regions, int domain) {
    this.regions = regions;
    this.domain = domain;
  }

  boolean remoteWrite(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.REMOTE_WRITE, address, lengthBytes);
  }

  boolean remoteRead(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.REMOTE_READ, address, lengthBytes);
  }

  boolean localWrite(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.LOCAL_WRITE, address, lengthBytes);
  }

  /** The row of the region that this key allows the peer to write, or −1. */
  int writable(int key) {
    return regions.find(key, domain, RegionTable.REMOTE_WRITE);
  }

  long address(int row) {
    return regions.address(row);
  }

  long lengthBytes(int row) {
    return regions.lengthBytes(row);
  }
}
