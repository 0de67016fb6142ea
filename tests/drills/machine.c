/* Loaded before the C library (LD_PRELOAD): a machine whose disk is full and whose clock is set, as a drill says while the
 * program runs.
 *
 *   ROWTIDE_MACHINE = FILE   24 bytes, three numbers: seconds that are added to the time of day; whether writing and
 *                            making files fails for lack of space below `kept`; whether statvfs says so */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static volatile int64_t nothing[3];
static volatile int64_t* machine = nothing;
static int (*real_clock)(clockid_t, struct timespec*);

__attribute__((constructor)) static void begin(void) {
  real_clock = REAL(clock_gettime);
  const char* path = getenv("ROWTIDE_MACHINE");
  const int file = path ? REAL(open)(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const seen = mmap(NULL, 24, PROT_READ, MAP_SHARED, file, 0);
  if (seen != MAP_FAILED) machine = seen;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (!real_clock) real_clock = REAL(clock_gettime);
  const int result = real_clock(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += machine[0];
  return result;
}

static int is_full(const char* path) {
  if (!machine[1] || !strstr(path, "kept/")) return 0;
  errno = ENOSPC;
  return 1;
}

static int is_full_at(int descriptor) {
  char link[64], path[PATH_MAX];
  if (!machine[1]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t count = readlink(link, path, PATH_MAX - 1);
  path[count < 0 ? 0 : count] = 0;
  return is_full(path);
}

ssize_t write(int descriptor, const void* bytes, size_t count) { return is_full_at(descriptor) ? -1 : REAL(write)(descriptor, bytes, count); }
ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return is_full_at(descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, count, offset);
}
int mkdir(const char* path, mode_t mode) { return is_full(path) ? -1 : REAL(mkdir)(path, mode); }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_CREAT) && is_full(path)) return -1;
  return REAL(open)(path, flags, mode);
}

int statvfs64(const char* path, struct statvfs64* space) {
  const int result = REAL(statvfs64)(path, space);
  if (machine[2]) space->f_bavail = 0;
  return result;
}
int statvfs(const char* path, struct statvfs* space) {
  const int result = REAL(statvfs)(path, space);
  if (machine[2]) space->f_bavail = 0;
  return result;
}
