package io.heddle.controller.audit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** File channel in memory, of a simulated disk that can be full. */
public final class DiskChannel implements SeekableByteChannel {
  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private long room = Long.MAX_VALUE;
  private boolean open = true;

  public void fillUp() {
    fillUpAfter(0);
  }

  /** Sets the number of bytes that can still be written before the disk is full. */
  void fillUpAfter(long bytes) {
    room = bytes;
  }

  public void makeRoom() {
    room = Long.MAX_VALUE;
  }

  public List<String> lines() {
    return content.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    if (room == 0) {
      throw new IOException("No space left on device");
    }
    byte[] taken = new byte[(int) Math.min(from.remaining(), room)];
    from.get(taken);
    content.writeBytes(taken);
    room -= taken.length;
    return taken.length;
  }

  @Override
  public SeekableByteChannel truncate(long size) {
    byte[] kept = Arrays.copyOf(content.toByteArray(), (int) size);
    content.reset();
    content.writeBytes(kept);
    return this;
  }

  @Override
  public long size() {
    return content.size();
  }

  @Override
  public int read(ByteBuffer to) {
    throw new UnsupportedOperationException("reads aren't supported");
  }

  @Override
  public long position() {
    return content.size();
  }

  @Override
  public SeekableByteChannel position(long position) {
    throw new UnsupportedOperationException("seeks aren't supported");
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() {
    open = false;
  }
}
