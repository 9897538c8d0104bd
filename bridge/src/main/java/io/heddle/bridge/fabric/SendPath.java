package io.heddle.bridge.fabric;

/**
 * Path from the bridge to one address of a fabric, precomputed for sending. The data thread sends
 * by it, only in the fabric that created it.
 */
public interface SendPath {}
