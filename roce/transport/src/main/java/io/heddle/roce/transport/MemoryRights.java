package io.heddle.roce.transport;

/** Memory access checks for packets of one protection domain. Used under the progress lock. */
public final class MemoryRights {
  private final RegionTable regions;
  private final int domain;

  public MemoryRights(RegionTable regions, int domain) {
    this.regions = regions;
    this.domain = domain;
  }

  public boolean remoteWrite(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.REMOTE_WRITE, address, lengthBytes);
  }

  public boolean remoteRead(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.REMOTE_READ, address, lengthBytes);
  }

  public boolean localRead(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, 0, address, lengthBytes);
  }

  public boolean localWrite(int key, long address, int lengthBytes) {
    return regions.allows(key, domain, RegionTable.LOCAL_WRITE, address, lengthBytes);
  }

  /**
   * Returns the table row of the region that the peer may write with this key, or −1 if there is no
   * such region.
   */
  public int writable(int key) {
    return regions.find(key, domain, RegionTable.REMOTE_WRITE);
  }

  public long address(int row) {
    return regions.address(row);
  }

  public long lengthBytes(int row) {
    return regions.lengthBytes(row);
  }
}
