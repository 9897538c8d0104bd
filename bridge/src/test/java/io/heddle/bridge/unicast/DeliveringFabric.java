package io.heddle.bridge.unicast;

import io.heddle.bridge.fabric.OnePacket;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.verbs.QueuePairPort;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fabric that delivers the test's packets, with valid CRCs. */
class DeliveringFabric extends RecordingFabric {
  private final TrainBatch batch = OnePacket.batch();

  /** Fabric whose queue pairs have numbers, and whose paths are created before use. */
  static final class Numbered extends DeliveringFabric implements QueuePairPort {
    private final int[] numbers;
    private final Map<HostPair, SendPath> made = new HashMap<>();

    private final @Nullable SubnetHosts hosts;

    Numbered(int... numbers) {
      this(null, numbers);
    }

    /**
     * @param hosts map from hosts to ports, as on InfiniBand; null if packets contain hosts'
     *     addresses
     */
    Numbered(@Nullable SubnetHosts hosts, int... numbers) {
      this.hosts = hosts;
      this.numbers = numbers.clone();
    }

    @Override
    public @Nullable SubnetHosts hosts() {
      return hosts;
    }

    @Override
    public int[] numbers() {
      return numbers.clone();
    }

    @Override
    public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
      return made.computeIfAbsent(new HostPair(source, destination), ends -> new SendPath() {});
    }

    @Override
    public @Nullable SendPath readySendPath(Gid source, Gid destination) {
      return made.get(new HostPair(source, destination));
    }
  }

  void put(long packet, int lengthBytes, Gid source, Gid destination) {
    OnePacket.put(batch, packet, lengthBytes, source, destination);
  }

  @Override
  public SendPath sendPathBetween(Gid source, Gid destination, int trafficClass) {
    super.sendPathBetween(source, destination, trafficClass);
    return new SendPath() {};
  }

  @Override
  public TrainBatch batch() {
    return batch;
  }

  @Override
  public int checksum(long packet, int covered) {
    return 0;
  }

  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    return true;
  }
}
