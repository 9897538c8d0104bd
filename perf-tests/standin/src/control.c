/* standin-control: creates a fabric, shows its state, and changes it as cables, switches and operators would. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "settings.h"

static void usage(FILE *to) {
  fputs(
      "standin-control: controls the devices of a verbs-standin fabric\n"
      "  standin-control [--fabric FILE] COMMAND\n"
      "  create                        creates the fabric, which then stays until it is removed\n"
      "  remove                        removes it\n"
      "  host HOST                     creates a host's devices from the STANDIN_ variables, before a process does\n"
      "  show                          shows devices, addresses, counters, and the processes that use them\n"
      "  port DEVICE up|down           with its event\n"
      "  silent DEVICE on|off          drops all that it sends or receives; its port stays active\n"
      "  cut DEVICE INDEX | heal DEVICE INDEX    the same for the address of one GID\n"
      "  gid DEVICE INDEX ADDRESS|none  with its event\n"
      "  join DEVICE GROUP | send DEVICE GROUP   the port joins a group of InfiniBand, to receive or only to send; "
      "prints\n"
      "                                its LID\n"
      "  lid DEVICE LID                the subnet manager assigns the port another LID, with the port's event; 0: its "
      "first\n"
      "  hops DEVICE COUNT             paths to the port have this hop limit, and packets a route header; 0: none\n"
      "  forget                        the subnet manager restarts: it forgets all joins, and groups get other LIDs\n"
      "  leave DEVICE GROUP | unsend DEVICE GROUP   the port leaves it\n"
      "  rate DEVICE GBPS | latency DEVICE US    0: none\n"
      "  fail DEVICE STATUS [COUNT [AFTER]]      the next work requests complete with this status (1, 0)\n"
      "  refuse DEVICE VERB ERRNO [COUNT [AFTER]]   the next calls of ibv_... or rdma_... fail with this errno\n"
      "  event DEVICE EVENT            an asynchronous event that is not a queue pair's or a completion queue's\n"
      "DEVICE is HOST/NUMBER, such as 0/1, or HOST/NUMBER:PORT, such as 0/1:2, without which its port 1 is meant; "
      "STATUS, ERRNO and EVENT are numbers or, but for ERRNO, the names of "
      "verbs.h.\n"
      "FILE is by default that of STANDIN_FABRIC, as for the programs that use it.\n"
      "exit codes: 0 done, 1 refused, 2 bad usage\n",
      to);
}

static int refuse_usage(const char *what, const char *value, const char *needed) {
  fprintf(stderr, "standin-control: %s %s: %s is needed\n", what, value, needed);
  exit(2);
}

static uint32_t whole(const char *what, const char *text, uint32_t least, uint32_t most) {
  char *end = NULL;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  char needed[64];
  snprintf(needed, sizeof needed, "a whole number from %u to %u", least, most);
  if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < least || value > most) {
    refuse_usage(what, text, needed);
  }
  return (uint32_t)value;
}

static double number(const char *what, const char *text, double most) {
  double value = 0;
  if (parse_number(what, text, 0, most, &value) != 0) exit(2);
  return value;
}

struct place {
  uint32_t host, device;
  struct port *port;
};

static struct place place_of(const char *text) {
  struct place place;
  char *end = NULL;
  place.host = (uint32_t)strtoul(text, &end, 10);
  if (end == text || *end != '/' || place.host >= HOSTS) refuse_usage("device", text, "HOST/NUMBER");
  const struct shared_host *host = &fabric->hosts[place.host];
  char number[32];
  snprintf(number, sizeof number, "%s", end + 1);
  char *colon = strchr(number, ':');
  uint32_t port = colon == NULL ? 1 : whole("port", colon + 1, 1, DEVICES);
  if (colon != NULL) *colon = '\0';
  uint32_t device = whole("device", number, 0, DEVICES - 1);
  place.device = device * host->ports_each + port - 1;
  if (port > host->ports_each || place.device >= host->devices) {
    fprintf(stderr, "standin-control: host %u of %s has %u devices of %u ports each, there is no %s\n", place.host,
            fabric_path(), host->ports_each == 0 ? 0 : host->devices / host->ports_each, host->ports_each, text);
    exit(1);
  }
  place.port = port_of(place.host, place.device);
  return place;
}

/* ---- names of codes ---- */

struct name {
  const char *text;
  int code;
};
#define NAME(code) \
  { #code, code }
static const struct name statuses[] = {NAME(IBV_WC_LOC_LEN_ERR),       NAME(IBV_WC_LOC_QP_OP_ERR),
                                       NAME(IBV_WC_LOC_PROT_ERR),      NAME(IBV_WC_WR_FLUSH_ERR),
                                       NAME(IBV_WC_BAD_RESP_ERR),      NAME(IBV_WC_LOC_ACCESS_ERR),
                                       NAME(IBV_WC_REM_INV_REQ_ERR),   NAME(IBV_WC_REM_ACCESS_ERR),
                                       NAME(IBV_WC_REM_OP_ERR),        NAME(IBV_WC_RETRY_EXC_ERR),
                                       NAME(IBV_WC_RNR_RETRY_EXC_ERR), NAME(IBV_WC_REM_ABORT_ERR),
                                       NAME(IBV_WC_FATAL_ERR),         NAME(IBV_WC_RESP_TIMEOUT_ERR),
                                       NAME(IBV_WC_GENERAL_ERR),       {NULL, 0}};
static const struct name events[] = {
    NAME(IBV_EVENT_DEVICE_FATAL),      NAME(IBV_EVENT_PORT_ACTIVE), NAME(IBV_EVENT_PORT_ERR),
    NAME(IBV_EVENT_LID_CHANGE),        NAME(IBV_EVENT_PKEY_CHANGE), NAME(IBV_EVENT_SM_CHANGE),
    NAME(IBV_EVENT_CLIENT_REREGISTER), NAME(IBV_EVENT_GID_CHANGE),  {NULL, 0}};

static int code_of(const char *what, const char *text, const struct name *names, uint32_t most) {
  for (const struct name *name = names; name->text != NULL; name++) {
    if (strcmp(text, name->text) == 0) return name->code;
  }
  if (text[0] >= '0' && text[0] <= '9') return (int)whole(what, text, 1, most);
  return refuse_usage(what, text, "a number or a name of verbs.h");
}

/* ---- commands ---- */

/* Writes a port as the control program's arguments name it. */
static const char *place_text(uint32_t host, uint32_t device, char *to, size_t size) {
  uint32_t each = fabric->hosts[host].ports_each;
  if (each == 1) {
    snprintf(to, size, "%u/%u", host, device);
  } else {
    snprintf(to, size, "%u/%u:%u", host, device / each, device % each + 1);
  }
  return to;
}

static int show(void) {
  for (uint32_t host = 0; host < HOSTS; host++) {
    for (uint32_t device = 0; device < fabric->hosts[host].devices; device++) {
      struct port *port = port_of(host, device);
      char place[32];
      place_text(host, device, place, sizeof place);
      printf("device %s %s port %s%s rate_gbps %g latency_us %g sent_bytes %llu sent_messages %llu received_bytes %llu "
             "received_messages %llu\n",
             place, port->name, atomic_load(&port->state) == IBV_PORT_ACTIVE ? "up" : "down",
             atomic_load(&port->silent) ? " silent" : "", (double)atomic_load(&port->bits_per_second) / 1e9,
             (double)atomic_load(&port->latency_ns) / 1e3, (unsigned long long)atomic_load(&port->sent_bytes),
             (unsigned long long)atomic_load(&port->sent_messages),
             (unsigned long long)atomic_load(&port->received_bytes),
             (unsigned long long)atomic_load(&port->received_messages));
      for (uint32_t i = 0; i < GIDS; i++) {
        char text[INET6_ADDRSTRLEN];
        if (port->gids[i].gid.global.interface_id == 0 && port->gids[i].gid.global.subnet_prefix == 0) continue;
        inet_ntop(AF_INET6, port->gids[i].gid.raw, text, sizeof text);
        printf("gid %s %u %s%s sent_bytes %llu\n", place, i, text, port->gids[i].cut ? " cut" : "",
               (unsigned long long)atomic_load(&port->gids[i].sent_bytes));
      }
    }
  }
  uint32_t regions = 0, queues = 0, pairs = 0;
  for (uint32_t i = 0; i < REGIONS; i++) regions += atomic_load(&fabric->regions[i].owner) != 0;
  for (uint32_t i = 0; i < QUEUES; i++) queues += atomic_load(&fabric->queues[i].owner) != 0;
  for (uint32_t i = 0; i < PAIRS; i++) pairs += atomic_load(&fabric->pairs[i].owner) != 0;
  for (uint32_t i = 0; i < PROCESSES; i++) {
    struct process *process = &fabric->processes[i];
    if (atomic_load(&process->pid) != 0) {
      printf("process %u host %u lost_events %u\n", atomic_load(&process->pid), process->host,
             atomic_load(&process->lost_messages));
    }
  }
  printf("memory_regions %u completion_queues %u queue_pairs %u\n", regions, queues, pairs);
  return 0;
}

static int set_port(struct place place, const char *state) {
  bool up = strcmp(state, "up") == 0;
  if (!up && strcmp(state, "down") != 0) refuse_usage("port", state, "up or down");
  uint32_t wanted = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  if (atomic_exchange(&place.port->state, wanted) != wanted) {
    announce(place.host, place.device, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
  }
  return 0;
}

static int set_silent(struct place place, const char *state) {
  bool on = strcmp(state, "on") == 0;
  if (!on && strcmp(state, "off") != 0) refuse_usage("silent", state, "on or off");
  atomic_store(&place.port->silent, on);
  return 0;
}

static int set_cut(struct place place, const char *index, bool cut) {
  place.port->gids[whole("index", index, 0, GIDS - 1)].cut = cut;
  return 0;
}

static int set_gid(struct place place, const char *index_text, const char *address) {
  uint32_t index = whole("index", index_text, 0, GIDS - 1);
  union ibv_gid gid = {0};
  if (strcmp(address, "none") != 0 && inet_pton(AF_INET6, address, gid.raw) != 1) {
    refuse_usage("gid", address, "an IPv6 address or none");
  }
  lock(&place.port->lock);
  place.port->gids[index].gid = gid;
  place.port->gids[index].cut = false;
  unlock(&place.port->lock);
  announce(place.host, place.device, IBV_EVENT_GID_CHANGE);
  return 0;
}

static int set_lid(struct place place, const char *lid) {
  atomic_store(&place.port->lid, whole("lid", lid, 0, FIRST_GROUP_LID - 1));
  announce(place.host, place.device, IBV_EVENT_LID_CHANGE);
  return 0;
}

static union ibv_gid group_of(const char *text) {
  union ibv_gid gid = {0};
  if (inet_pton(AF_INET6, text, gid.raw) != 1 || gid.raw[0] != 0xff) refuse_usage("group", text, "a multicast GID");
  return gid;
}

static int join(struct place place, const char *group, bool receives) {
  union ibv_gid gid = group_of(group);
  uint32_t lid = 0;
  int error = subnet_join(PERMANENT_JOIN, place.host, place.device, &gid, receives, &lid);
  if (error != 0) {
    fprintf(stderr, "standin-control: join of %s: %s\n", group, strerror(error));
    return 1;
  }
  printf("lid 0x%x\n", lid);
  return 0;
}

static int leave(struct place place, const char *group, bool receives) {
  union ibv_gid gid = group_of(group);
  if (subnet_leave(PERMANENT_JOIN, place.host, place.device, &gid, receives)) return 0;
  fprintf(stderr, "standin-control: the port hasn't joined %s by this program\n", group);
  return 1;
}

static struct fault fault_of(int code, int count, char **rest) {
  return (struct fault){.code = code,
                        .count = count > 0 ? whole("count", rest[0], 1, UINT32_MAX) : 1,
                        .after = count > 1 ? whole("after", rest[1], 0, UINT32_MAX) : 0};
}

static int set_refusal(struct port *port, const char *verb, struct fault fault) {
  struct refusal *free = NULL;
  bool known = strncmp(verb, "ibv_", 4) == 0 || strncmp(verb, "rdma_", 5) == 0;
  if (!known || strlen(verb) >= sizeof free->verb) refuse_usage("refuse", verb, "the name of a verb");
  lock(&port->lock);
  for (int i = REFUSALS - 1; i >= 0; i--) {
    if (port->refusals[i].fault.count == 0) free = &port->refusals[i];
  }
  if (free != NULL) {
    snprintf(free->verb, sizeof free->verb, "%s", verb);
    free->fault = fault;
  }
  unlock(&port->lock);
  if (free == NULL) fprintf(stderr, "standin-control: %d verbs are being refused already\n", REFUSALS);
  return free == NULL;
}

static int run(int count, char **words) {
  const char *command = words[0];
  if (strcmp(command, "show") == 0 && count == 1) return show();
  if (strcmp(command, "create") == 0 && count == 1) return 0;
  if (strcmp(command, "forget") == 0 && count == 1) {
    subnet_restart();
    return 0;
  }
  if (strcmp(command, "host") == 0 && count == 2) {
    uint32_t host = whole("host", words[1], 0, HOSTS - 1);
    return settings_devices(host, &fabric->hosts[host]) == 0 ? 0 : 2;
  }
  if (count < 3) return -1;
  struct place place = place_of(words[1]);
  if (strcmp(command, "port") == 0 && count == 3) return set_port(place, words[2]);
  if (strcmp(command, "silent") == 0 && count == 3) return set_silent(place, words[2]);
  if (strcmp(command, "cut") == 0 && count == 3) return set_cut(place, words[2], true);
  if (strcmp(command, "heal") == 0 && count == 3) return set_cut(place, words[2], false);
  if (strcmp(command, "join") == 0 && count == 3) return join(place, words[2], true);
  if (strcmp(command, "send") == 0 && count == 3) return join(place, words[2], false);
  if (strcmp(command, "leave") == 0 && count == 3) return leave(place, words[2], true);
  if (strcmp(command, "unsend") == 0 && count == 3) return leave(place, words[2], false);
  if (strcmp(command, "lid") == 0 && count == 3) return set_lid(place, words[2]);
  if (strcmp(command, "hops") == 0 && count == 3) {
    atomic_store(&place.port->hops, whole("hops", words[2], 0, 255));
    return 0;
  }
  if (strcmp(command, "gid") == 0 && count == 4) return set_gid(place, words[2], words[3]);
  if (strcmp(command, "rate") == 0 && count == 3) {
    atomic_store(&place.port->bits_per_second, (uint64_t)(number("rate", words[2], 10000) * 1e9));
    return 0;
  }
  if (strcmp(command, "latency") == 0 && count == 3) {
    atomic_store(&place.port->latency_ns, (uint64_t)(number("latency", words[2], 1e6) * 1e3));
    return 0;
  }
  if (strcmp(command, "event") == 0 && count == 3) {
    announce(place.host, place.device, (enum ibv_event_type)code_of("event", words[2], events, IBV_EVENT_GID_CHANGE));
    return 0;
  }
  if (strcmp(command, "fail") == 0 && count <= 5) {
    int status = code_of("status", words[2], statuses, IBV_WC_TM_RNDV_INCOMPLETE);
    struct fault fault = fault_of(status, count - 3, words + 3);
    lock(&place.port->lock);
    place.port->work = fault;
    unlock(&place.port->lock);
    return 0;
  }
  if (strcmp(command, "refuse") == 0 && count >= 4 && count <= 6) {
    /* Verbs are refused by the device, which keeps this in its first port. */
    struct port *first = place.port - place.device % fabric->hosts[place.host].ports_each;
    return set_refusal(first, words[2], fault_of((int)whole("errno", words[3], 1, 4095), count - 4, words + 4));
  }
  return -1;
}

int main(int count, char **words) {
  if (count > 2 && strcmp(words[1], "--fabric") == 0) {
    setenv("STANDIN_FABRIC", words[2], 1);
    count -= 2;
    words += 2;
  }
  if (count == 2 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)) {
    usage(stdout);
    return 0;
  }
  if (count < 2) {
    usage(stderr);
    return 2;
  }
  char path[4096];
  snprintf(path, sizeof path, "%s", fabric_path());
  if (count == 2 && strcmp(words[1], "remove") == 0) return fabric_remove(path) == 0 ? 0 : 1;
  if (fabric_open(path, strcmp(words[1], "create") == 0) != 0) return 1;
  int result = run(count - 1, words + 1);
  if (result < 0) usage(stderr);
  return result < 0 ? 2 : result;
}
