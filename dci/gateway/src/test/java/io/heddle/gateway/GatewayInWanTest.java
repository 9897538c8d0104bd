package io.heddle.gateway;

import io.heddle.dataplane.FlowHash;
import io.heddle.dataplane.bpf.BpfDataPlane;
import java.net.InetAddress;
import java.util.Optional;

/** Tests of a gateway with the BPF program. */
final class GatewayInWanTest extends GatewayInWan {
  GatewayInWanTest() {
    super("bpf");
  }

  @Override
  Optional<String> refusal() {
    return BpfDataPlane.refusal();
  }

  @Override
  int hash(InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    return FlowHash.ofQueuePair(source, destination, sourcePort, queuePair, seed);
  }

  @Override
  int hashOfOther(InetAddress source, InetAddress destination, int sourcePort, int port, int seed) {
    return FlowHash.of(source, destination, sourcePort, port, FlowHash.UDP, 0, seed);
  }
}
