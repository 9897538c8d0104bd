package io.heddle.bridge.fabric;

/**
 * How packets leave for one address of a fabric: what a send needs of it, made once. The control
 * thread makes it, the data thread uses it, in the fabric that made it.
 */
public interface Way {}
