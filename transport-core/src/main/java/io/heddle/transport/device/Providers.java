package io.heddle.transport.device;

import io.heddle.verbs.VerbsProvider;
import java.util.List;
import java.util.ServiceLoader;

/** Sources of devices to choose from. They keep nothing between two transports. */
public record Providers(List<VerbsProvider> all) {
  public Providers {
    all = List.copyOf(all);
  }

  /** Those that this build has; to find them takes 10 ms. */
  public static Providers ofThisBuild() {
    ClassLoader loader = Providers.class.getClassLoader();
    return new Providers(
        ServiceLoader.load(VerbsProvider.class, loader).stream()
            .map(ServiceLoader.Provider::get)
            .toList());
  }
}
