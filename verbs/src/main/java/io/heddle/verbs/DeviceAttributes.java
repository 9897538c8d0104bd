package io.heddle.verbs;

/**
 * Fixed properties and limits of a device.
 *
 * @param guid GUID of the adapter. Devices of one adapter share it if the provider knows that they
 *     are one; devices of different adapters never do
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
