package io.heddle.transport;

import org.jspecify.annotations.Nullable;

/**
 * Properties of a device for NCCL: the fields of all versions of its net plugin interface.
 *
 * @param name the device's name in NCCL's log
 * @param pciPath sysfs path for NCCL's topology search; the search fails if several devices have
 *     none
 * @param guid identifies the adapter
 * @param pointerSupport bits: host memory 1, CUDA 2, dma-buf 4
 * @param registrationIsGlobal whether a registration serves all communicators of the device
 * @param forceFlush whether received GPU data must always be flushed
 * @param speedMegabitsPerSecond speed of the port, as the provider reports it
 * @param port number of the port, from 1; the ports of an adapter's functions are numbered through
 * @param latencyUs one-way latency in microseconds; NCCL's net_ib reports 0
 * @param maxReceives maximum number of buffers in one grouped receive
 * @param railId number of the rail; -1 where undefined
 * @param planeId number of the plane; -1, since a Heddle device spans all planes
 */
public record NetProperties(
    String name,
    @Nullable String pciPath,
    long guid,
    int pointerSupport,
    boolean registrationIsGlobal,
    boolean forceFlush,
    long speedMegabitsPerSecond,
    int port,
    double latencyUs,
    int maxComms,
    int maxReceives,
    long maxP2pBytes,
    long maxCollectiveBytes,
    int maxMultiRequestSize,
    int railId,
    int planeId) {}
