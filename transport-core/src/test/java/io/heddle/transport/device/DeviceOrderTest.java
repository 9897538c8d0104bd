package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeviceOrderTest {
  private record Device(String path, String name) {}

  private static void assertOrder(Device... inOrder) {
    List<Device> devices = new ArrayList<>(List.of(inOrder));
    Collections.shuffle(devices, new Random(1));
    devices.sort(
        (one, other) -> DeviceOrder.compare(one.path(), one.name(), other.path(), other.name()));
    assertEquals(List.of(inOrder), devices);
  }

  @Test
  void functionsAreInOrderOfTheirOwnAddresses() {
    assertOrder(
        new Device("/sys/devices/pci0000:09/0000:09:01.0/0000:0a:00.0", "d"),
        new Device("/sys/devices/pci0000:09/0000:09:01.0/0000:0a:00.1", "c"),
        new Device("/sys/devices/pci0000:09/0000:09:01.0/0000:0a:01.0", "b"),
        new Device("/sys/devices/pci0000:00/0000:00:01.0/0000:10:00.0/virtio2", "a"),
        new Device("/sys/devices/pci0002:00/0002:00:00.0/0002:01:00.0", "g"),
        new Device("/sys/devices/pci10000:00/10000:00:02.0/10000:01:00.0", "f"));
  }

  @Test
  void portsAndDevicesWithoutFunctionAreInOrderOfNumbersInTheirNames() {
    String function = "/sys/devices/pci0000:00/0000:00:01.0/0000:0a:00.0";
    assertOrder(
        new Device(function, "mlx5_2:3"),
        new Device(function, "mlx5_2:12"),
        new Device(function, "mlx5_10:1"),
        new Device("/sys/devices/virtual/net/e10", "rxe_2"),
        new Device("/sys/devices/virtual/net/e9", "rxe_10"));
  }
}
