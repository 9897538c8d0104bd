package io.heddle.addr;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * Program that prints, for each request {@code NAME=SOURCE>DESTINATION} on its command line, the
 * remedy that makes a socket's packets leave by the interface of their source address.
 */
final class EgressScenario {
  private EgressScenario() {}

  public static void main(String[] questions) throws Exception {
    HostAddresses host = HostAddresses.read();
    Map<InetAddress, NetworkLink> links = new HashMap<>();
    host.addresses().forEach(each -> links.put(each.address(), host.linkOf(each)));
    for (String question : questions) {
      String[] parts = question.split("[=>]");
      InetAddress source = InetAddress.getByName(parts[1]);
      NetworkLink link = links.get(source);
      System.out.println(
          parts[0] + ": " + Egress.remedy(source, link, InetAddress.getByName(parts[2])));
    }
  }
}
