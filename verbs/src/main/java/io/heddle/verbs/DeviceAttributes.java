package io.heddle.verbs;

/**
 * Fixed properties and limits of a device.
 *
 * @param guid node GUID; unique per physical device if the provider can ensure that
 * @param pciPath sysfs path of the PCI function, or its closest equivalent for a virtual device;
 *     never empty, since NCCL's topology search fails without it
 * @param maxQueuePairs largest number of queue pairs at a time
 * @param maxWorkRequests depth limit of one work queue
 * @param maxCompletionQueues largest number of completion queues at a time
 * @param maxCompletions depth limit of one completion queue
 * @param supportsDmaBuf whether device and kernel can register a dma-buf (exported GPU memory)
 */
public record DeviceAttributes(
    long guid,
    String pciPath,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxCompletionQueues,
    int maxCompletions,
    boolean supportsDmaBuf) {}
