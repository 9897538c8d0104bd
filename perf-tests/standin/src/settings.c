#include "settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? NULL : text;
}

int parse_number(const char *what, const char *text, double least, double most, double *value) {
  char *end = NULL;
  errno = 0;
  *value = strtod(text, &end);
  if (errno != 0 || end == text || *end != '\0' || !(*value >= least && *value <= most)) {
    fprintf(stderr, "verbs-standin: %s=%s: a number from %g to %g is needed\n", what, text, least, most);
    return EINVAL;
  }
  return 0;
}

static int whole(const char *name, double least, double most, uint32_t *to) {
  const char *text = setting(name);
  double value = 0;
  if (text == NULL) return 0;
  int error = parse_number(name, text, least, most, &value);
  if (error == 0 && value != floor(value)) {
    fprintf(stderr, "verbs-standin: %s=%s: a whole number is needed\n", name, text);
    error = EINVAL;
  }
  if (error == 0) *to = (uint32_t)value;
  return error;
}

int settings_host(uint32_t *host) {
  *host = 0;
  return whole("STANDIN_HOST", 0, HOSTS - 1, host);
}

int settings_device_count(uint32_t *count) {
  *count = 0;
  return whole("STANDIN_DEVICES", 0, DEVICES, count);
}

int settings_locked_bytes(uint64_t *bytes) {
  const char *text = setting("STANDIN_LOCKED_BYTES");
  double value = 0;
  *bytes = UINT64_MAX;
  if (text == NULL) return 0;
  int error = parse_number("STANDIN_LOCKED_BYTES", text, 0, 1e15, &value);
  if (error == 0) *bytes = (uint64_t)value;
  return error;
}

int settings_completions(void) {
  const char *text = setting("STANDIN_COMPLETIONS");
  double value = QUEUE_ENTRIES;
  if (text == NULL || parse_number("STANDIN_COMPLETIONS", text, 1, QUEUE_ENTRIES, &value) != 0) return QUEUE_ENTRIES;
  return (int)value;
}

static bool is_on(const char *name) {
  const char *text = setting(name);
  return text != NULL && strcmp(text, "1") == 0;
}

bool settings_dma_buf(void) { return is_on("STANDIN_DMABUF"); }

bool settings_instant(void) { return is_on("STANDIN_INSTANT"); }

/*
 * Copies element `index` of a list to `to`; the last element also counts for all later indexes. Returns NULL if there
 * is no list or the element doesn't fit.
 */
static const char *element(const char *list, char separator, uint32_t index, char *to, size_t size) {
  if (list == NULL) return NULL;
  const char *at = list;
  for (uint32_t i = 0; i < index; i++) {
    const char *next = strchr(at, separator);
    if (next == NULL) break;
    at = next + 1;
  }
  const char *end = strchr(at, separator);
  size_t length = end == NULL ? strlen(at) : (size_t)(end - at);
  if (length >= size) return NULL;
  memcpy(to, at, length);
  to[length] = '\0';
  return to;
}

static int name_port(struct port *port, uint32_t device) {
  char text[64], last[64];
  const char *names = setting("STANDIN_NAMES");
  snprintf(port->name, sizeof port->name, "standin%u", device);
  if (names == NULL) return 0;
  const char *name = element(names, ',', device, text, sizeof text);
  const char *before = device == 0 ? NULL : element(names, ',', device - 1, last, sizeof last);
  if (name == NULL || *name == '\0' || strchr(name, '/') != NULL || (before != NULL && strcmp(name, before) == 0)) {
    fprintf(stderr, "verbs-standin: STANDIN_NAMES=%s: a name of its own for device %u is needed\n", names, device);
    return EINVAL;
  }
  snprintf(port->name, sizeof port->name, "%s", name);
  return 0;
}

/*
 * Reads the number for a device from the list in an environment variable, and stores it times `unit`. Returns 0 or an
 * errno value.
 */
static int scaled(const char *name, uint32_t device, double most, double unit, _Atomic uint64_t *to) {
  char text[64];
  const char *list = setting(name), *found = element(list, ',', device, text, sizeof text);
  double value = 0;
  if (list != NULL && found == NULL) found = list;
  int error = found == NULL ? 0 : parse_number(name, found, 0, most, &value);
  if (error == 0) atomic_store(to, (uint64_t)(value * unit));
  return error;
}

/* Fills in the link-local address of a device, which is GID 0 as on every RoCE adapter. */
static void link_local(union ibv_gid *gid, uint32_t host, uint32_t device) {
  memset(gid, 0, sizeof *gid);
  gid->raw[0] = 0xfe;
  gid->raw[1] = 0x80;
  gid->raw[8] = 0x02;
  gid->raw[11] = 0xff;
  gid->raw[12] = 0xfe;
  gid->raw[14] = (uint8_t)(device + 1);
  gid->raw[15] = (uint8_t)(host + 1);
}

/* Fills in the default address fd5d:a11d:0:<plane>::<host + 1>. Addresses of one plane are in one subnet. */
static void generated(union ibv_gid *gid, uint32_t host, uint32_t plane) {
  memset(gid, 0, sizeof *gid);
  gid->raw[0] = 0xfd;
  gid->raw[1] = 0x5d;
  gid->raw[2] = 0xa1;
  gid->raw[3] = 0x1d;
  gid->raw[6] = (uint8_t)(plane >> 8);
  gid->raw[7] = (uint8_t)plane;
  gid->raw[15] = (uint8_t)(host + 1);
}

/* Parses an IPv6 address, or an IPv4 address, which becomes an IPv4-mapped IPv6 address. */
static int parse_gid(const char *text, union ibv_gid *gid) {
  struct in_addr four;
  if (inet_pton(AF_INET6, text, gid->raw) == 1) return 0;
  if (inet_pton(AF_INET, text, &four) != 1) return EINVAL;
  memset(gid, 0, sizeof *gid);
  gid->raw[10] = gid->raw[11] = 0xff;
  memcpy(gid->raw + 12, &four, sizeof four);
  return 0;
}

static int named_gids(struct port *port, const char *all, uint32_t device) {
  char list[1024];
  uint32_t lists = 1;
  for (const char *at = all; (at = strchr(at, ';')) != NULL; at++) lists++;
  if (device >= lists || element(all, ';', device, list, sizeof list) == NULL) {
    fprintf(stderr, "verbs-standin: STANDIN_GIDS=%s has no list for device %u; lists are separated by ';'\n", all,
            device);
    return EINVAL;
  }
  uint32_t count = 1; /* index of the next entry; entry 0 is the link-local address */
  for (char *rest = list, *text; (text = strsep(&rest, ",")) != NULL; count++) {
    if (count == GIDS || (strcmp(text, "-") != 0 && parse_gid(text, &port->gids[count].gid) != 0)) {
      fprintf(stderr, "verbs-standin: STANDIN_GIDS=%s: \"%s\" is no address (or \"-\"), or one of more than %d\n", all,
              text, GIDS - 1);
      return EINVAL;
    }
  }
  return 0;
}

/* Reads the port's partitions: numbers separated by commas, the first of which is the default. */
static int partition_keys(struct port *port) {
  const char *list = setting("STANDIN_PKEYS");
  port->partition_keys[0] = 0xffff;
  for (uint32_t i = 0; list != NULL; i++) {
    char *end = NULL;
    unsigned long key = strtoul(list, &end, 0);
    if (i == PKEYS || end == list || (*end != '\0' && *end != ',') || key == 0 || key > 0xffff) {
      fprintf(stderr, "verbs-standin: STANDIN_PKEYS=%s: up to %d numbers from 1 to 0xffff are needed\n",
              setting("STANDIN_PKEYS"), PKEYS);
      return EINVAL;
    }
    port->partition_keys[i] = (uint16_t)key;
    list = *end == ',' ? end + 1 : NULL;
  }
  return 0;
}

static int number_of_device(const char *name, uint32_t device, double most, uint32_t *to) {
  _Atomic uint64_t value = *to;
  int error = scaled(name, device, most, 1, &value);
  *to = (uint32_t)atomic_load(&value);
  return error;
}

/* `device` is the index of the port among those of all devices, of which each has `ports_each`. */
static int configure_port(struct port *port, uint32_t host, uint32_t device, uint32_t ports_each, uint32_t addresses) {
  memset(port, 0, sizeof *port);
  atomic_store(&port->state, IBV_PORT_ACTIVE);
  int error = name_port(port, device / ports_each);
  port->card = device / ports_each + 1;
  if (error == 0) error = number_of_device("STANDIN_CARDS", device / ports_each, 255, &port->card);
  if (error == 0) error = number_of_device("STANDIN_VENDORS", device / ports_each, 0xffffff, &port->vendor);
  _Atomic uint64_t speed = 100000;
  if (error == 0) error = scaled("STANDIN_SPEED_GBPS", device, 10000, 1e3, &speed);
  port->speed_mbps = (uint32_t)atomic_load(&speed);
  if (error == 0) error = scaled("STANDIN_RATE_GBPS", device, 10000, 1e9, &port->bits_per_second);
  if (error == 0) error = scaled("STANDIN_LATENCY_US", device, 1e6, 1e3, &port->latency_ns);
  if (error == 0) error = partition_keys(port);
  link_local(&port->gids[0].gid, host, device);
  const char *named = setting("STANDIN_GIDS");
  if (error == 0 && named != NULL) return named_gids(port, named, device);
  for (uint32_t i = 0; i < addresses; i++) generated(&port->gids[i + 1].gid, host, device * addresses + i + 1);
  return error;
}

int settings_devices(uint32_t host, struct shared_host *to) {
  uint32_t devices = 1, addresses = 1, ports_each = 1;
  const char *link = setting("STANDIN_LINK");
  int error = whole("STANDIN_DEVICES", 0, DEVICES, &devices);
  if (error == 0) error = whole("STANDIN_ADDRESSES", 0, GIDS - 1, &addresses);
  if (error == 0) error = whole("STANDIN_PORTS", 1, DEVICES, &ports_each);
  if (error != 0) return error;
  if (devices * ports_each > DEVICES) {
    fprintf(stderr, "verbs-standin: %u devices of %u ports each (STANDIN_PORTS) have more than %d ports\n", devices,
            ports_each, DEVICES);
    return EINVAL;
  }
  if (link != NULL && strcmp(link, "ethernet") != 0 && strcmp(link, "infiniband") != 0) {
    fprintf(stderr, "verbs-standin: STANDIN_LINK=%s: ethernet or infiniband is needed\n", link);
    return EINVAL;
  }
  to->link_layer =
      link != NULL && strcmp(link, "infiniband") == 0 ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  to->ports_each = ports_each;
  uint32_t ports = devices * ports_each;
  for (uint32_t i = 0; i < ports && error == 0; i++) {
    error = configure_port(&to->ports[i], host, i, ports_each, addresses);
  }
  to->devices = error == 0 ? ports : 0;
  return error;
}
