package io.heddle.verbs;

/**
 * Fixed properties and limits of a device.
 *
 * @param guid node GUID; unique per physical device as far as the provider can make it so
 * @param pciPath sysfs path of the PCI function, or of the nearest thing that a virtual device has;
 *     never empty, since NCCL's topology search fails on devices without one
 * @param maxQueuePairs how many queue pairs may exist at a time
 * @param maxWorkRequests depth limit of one work queue
 * @param maxCompletionQueues how many completion queues may exist at a time
 * @param maxCompletions depth limit of one completion queue
 * @param supportsDmaBuf whether device and kernel can register a dma-buf, as GPU memory is exported
 */
public record DeviceAttributes(
    long guid,
    String pciPath,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxCompletionQueues,
    int maxCompletions,
    boolean supportsDmaBuf) {}
