package io.heddle.systemtests;

import io.heddle.verbs.Gid;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * Program in the role of a host: a server that offers a service, or a client that resolves the
 * service and sends to it. The server answers each word with its negation. The client fails if an
 * answer is missing, wrong, or from another address or queue pair.
 */
final class UnicastHost {
  private UnicastHost() {}

  /**
   * Runs the host. The arguments are the kind of host, the device or interface, the host's address,
   * the server's address or {@code serve}, and the number of words.
   */
  public static void main(String[] words) throws UnknownHostException {
    Gid own = gid(words[2]);
    int count = Integer.parseInt(words[4]);
    boolean serves = "serve".equals(words[3]);
    boolean onWire = "wire".equals(words[0]);
    try (WireHost wire = onWire ? new WireHost(words[1], own) : null;
        SubnetHost subnet = onWire ? null : new SubnetHost(words[1], own, 1, () -> {})) {
      if (wire != null && serves) {
        System.out.println("serving");
        serve(wire, count);
      } else if (wire != null) {
        connect(wire, gid(words[3]), count);
      } else if (subnet != null && serves) {
        subnet.serve(List.of(own));
        System.out.println("serving");
        serve(subnet, gid(words[5]), count);
      } else if (subnet != null) {
        connect(subnet, gid(words[3]), count);
      }
    }
    System.out.println("done");
  }

  private static Gid gid(String address) throws UnknownHostException {
    return Gid.of(InetAddress.getByName(address));
  }

  private static void require(boolean right, Object what) {
    if (!right) {
      throw new IllegalStateException(String.valueOf(what));
    }
  }

  private static void serve(WireHost host, int count) {
    for (int word = 1; word <= count; word++) {
      WireHost.Received heard = host.receive();
      require(heard.word() == word && heard.number() == heard.immediate(), heard);
      host.send(heard.from(), heard.number(), -word);
    }
  }

  private static void connect(WireHost host, Gid server, int count) {
    int number = host.numberOf(server, SubnetHost.PORT);
    for (int word = 1; word <= count; word++) {
      host.send(server, number, word);
      WireHost.Received heard = host.receive();
      require(heard.equals(new WireHost.Received(server, number, number, -word)), heard);
    }
  }

  private static void serve(SubnetHost host, Gid client, int count) {
    for (int word = 1; word <= count; ) {
      host.answer();
      for (SubnetHost.Received each : host.poll()) {
        require(each.word() == word, each);
        host.send(0, client, each.from(), -word);
        word++;
      }
    }
  }

  private static void connect(SubnetHost host, Gid server, int count) {
    int number = host.numberOf(server);
    for (int word = 1; word <= count; word++) {
      host.send(0, server, number, word);
      SubnetHost.Received heard = host.receive();
      require(heard.equals(new SubnetHost.Received(host.number(0), number, -word)), heard);
    }
  }
}
