package io.heddle.bridge.fabric;

/**
 * Path from the bridge to one address of a fabric, precomputed for sending. The control thread
 * creates it, the data thread uses it, in the fabric that created it.
 */
public interface SendPath {}
