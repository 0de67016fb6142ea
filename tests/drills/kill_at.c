/* Loaded before the other libraries (LD_PRELOAD): kills the process at a named call.
 *
 *   ROWTIDE_KILL_AT = "NAME WHEN N"       WHEN: before, after, or +MICROSECONDS behind the beginning of the call; N: which
 *                                         of its calls, from 1
 *
 * Names are those below: what makes a checkpoint durable, and what makes a transaction of Kafka's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[64], when[32];
static long at = -1;
static atomic_long calls;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_setting(void) {
  const char* setting = getenv("ROWTIDE_KILL_AT");
  at = 0;
  if (setting != NULL && sscanf(setting, "%63s %31s %ld", name, when, &at) != 3) at = 0;
}

static void* later(void* microseconds) {
  usleep((useconds_t)(size_t)microseconds);
  kill(getpid(), SIGKILL);
  return NULL;
}

/* Whether this call is the one that is to be killed after it; does not return if it is to be before. */
static int is_the_one(const char* called) {
  pthread_t thread;
  pthread_once(&once, read_setting);
  if (at == 0 || strcmp(called, name) != 0 || atomic_fetch_add(&calls, 1) + 1 != at) return 0;
  if (strcmp(when, "before") == 0) kill(getpid(), SIGKILL);
  if (when[0] == '+') pthread_create(&thread, NULL, later, (void*)(size_t)atol(when + 1));
  return strcmp(when, "after") == 0;
}

#define AROUND(type, called, parameters, arguments)                              \
  type called parameters {                                                       \
    const int kills = is_the_one(#called);                                       \
    type result = ((__typeof__(&called))dlsym(RTLD_NEXT, #called)) arguments;       \
    if (kills) kill(getpid(), SIGKILL);                                          \
    return result;                                                               \
  }

AROUND(int, rename, (const char* from, const char* to), (from, to))
AROUND(int, fsync, (int descriptor), (descriptor))
AROUND(rd_kafka_error_t*, rd_kafka_init_transactions, (rd_kafka_t * handle, int millis), (handle, millis))
AROUND(rd_kafka_error_t*, rd_kafka_commit_transaction, (rd_kafka_t * handle, int millis), (handle, millis))
AROUND(rd_kafka_resp_err_t, rd_kafka_flush, (rd_kafka_t * handle, int millis), (handle, millis))
AROUND(rd_kafka_error_t*, rd_kafka_produceva, (rd_kafka_t * handle, const rd_kafka_vu_t* fields, size_t count), (handle, fields, count))
