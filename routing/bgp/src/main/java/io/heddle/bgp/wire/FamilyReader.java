package io.heddle.bgp.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reader of one family's routes in one UPDATE, by the family's codec. Single use. */
final class FamilyReader<R> implements FamilyCodec.Sink<R> {
  private final FamilyCodec<R> codec;
  private final List<R> withdrawn = new ArrayList<>();
  private final List<R> announced = new ArrayList<>();
  private @Nullable NextHop nextHop;
  private @Nullable String firstMalformed;
  private int malformed;
  private boolean announcing;

  FamilyReader(FamilyCodec<R> codec) {
    this.codec = codec;
  }

  FamilyCodec<R> codec() {
    return codec;
  }

  /**
   * Reads withdrawn routes. Returns the reason if the bytes can't be split into routes; else null.
   */
  @Nullable String withdrawn(byte[] bytes, int start, int end) {
    announcing = false;
    return codec.decode(slice(bytes, start, end), this);
  }

  /**
   * Reads announced routes. Returns the reason if the bytes can't be split into routes; else null.
   */
  @Nullable String announced(byte[] bytes, int start, int end, @Nullable NextHop at) {
    announcing = true;
    nextHop = at;
    return codec.decode(slice(bytes, start, end), this);
  }

  private static ByteBuffer slice(byte[] bytes, int start, int end) {
    return ByteBuffer.wrap(bytes, start, end - start).slice().asReadOnlyBuffer();
  }

  @Override
  public void route(R route) {
    (announcing ? announced : withdrawn).add(route);
  }

  @Override
  public void malformed(R route, String why) {
    withdrawn.add(route);
    malformed++;
    if (firstMalformed == null) {
      firstMalformed = why;
    }
  }

  /** Returns the number of malformed routes since the last call. */
  int takeMalformed() {
    int count = malformed;
    malformed = 0;
    return count;
  }

  @Nullable String firstMalformed() {
    return firstMalformed;
  }

  boolean hasAnnounced() {
    return !announced.isEmpty();
  }

  FamilyRoutes<R> routes() {
    return new FamilyRoutes<>(codec, withdrawn, announced, announced.isEmpty() ? null : nextHop);
  }
}
