package io.heddle.cli.lab;

import java.util.Locale;

/** How a fabric is built. */
public enum FabricShape {
  /** Every leaf is joined to every spine; a plane is the way over one link of one spine. */
  LEAF_SPINE("leaf-spine"),

  /** A network of its own for each plane, here one leaf; every host is on each of them. */
  PLANES("planes");

  private final String text;

  FabricShape(String text) {
    this.text = text;
  }

  /** As options and files name it. */
  public String text() {
    return text;
  }

  /**
   * @throws IllegalArgumentException for any other text
   */
  public static FabricShape named(String text) {
    for (FabricShape shape : values()) {
      if (shape.text.equals(text.toLowerCase(Locale.ROOT))) {
        return shape;
      }
    }
    throw new IllegalArgumentException(
        "'" + text + "' is no shape of a fabric: leaf-spine or planes");
  }
}
