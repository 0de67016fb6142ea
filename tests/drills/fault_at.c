/* Loaded before the C library (LD_PRELOAD): the N-th call that changes the disk is the last one of the process, or fails.
 *
 *   ROWTIDE_FAULT = kill | ENOSPC | EIO | short | slow | read      what happens
 *   ROWTIDE_FAULT_AT = N                                           at which call, from 1
 *
 * Counted are open with O_CREAT, write and pwrite to files, fsync, fdatasync, rename, link, unlink, mkdir; for `read` read
 * and pread of files instead, which fail with EIO. `short` lets a write write half, `slow` takes 300 ms. At the end of the
 * process the number of calls goes into the file ROWTIDE_FAULT_COUNT, if that is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long calls;
static long fault_at = -1;
static const char* fault;

static void read_settings(void) {
  const char* at = getenv("ROWTIDE_FAULT_AT");
  fault = getenv("ROWTIDE_FAULT");
  fault_at = at && fault ? atol(at) : 0;
}

static int is(const char* name) { return fault != NULL && strcmp(fault, name) == 0; }

/* Whether this call is the one that fails, or is short; does not return if it is to kill. */
static int is_the_one(int reads) {
  if (fault_at < 0) read_settings();
  if (reads != is("read")) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != fault_at) return 0;
  if (is("kill")) kill(getpid(), SIGKILL);
  if (is("slow")) usleep(300000);
  errno = is("EIO") || is("read") ? EIO : ENOSPC;
  return !is("slow");
}

static int fails(void) { return is_the_one(0) && !is("short"); }

static int is_file(int descriptor) {
  struct stat what;
  return fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_file(descriptor) && is_the_one(0)) {
    if (!is("short")) return -1;
    count = count > 1 ? count / 2 : count;
  }
  return REAL(write)(descriptor, bytes, count);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  if (is_file(descriptor) && is_the_one(0)) {
    if (!is("short")) return -1;
    count = count > 1 ? count / 2 : count;
  }
  return REAL(pwrite64)(descriptor, bytes, count, offset);
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  if (is_file(descriptor) && is_the_one(1)) return -1;
  return REAL(read)(descriptor, bytes, count);
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t offset) {
  if (is_file(descriptor) && is_the_one(1)) return -1;
  return REAL(pread64)(descriptor, bytes, count, offset);
}

int fsync(int descriptor) { return fails() ? -1 : REAL(fsync)(descriptor); }
int fdatasync(int descriptor) { return fails() ? -1 : REAL(fdatasync)(descriptor); }
int rename(const char* from, const char* to) { return fails() ? -1 : REAL(rename)(from, to); }
int link(const char* from, const char* to) { return fails() ? -1 : REAL(link)(from, to); }
int unlink(const char* path) { return fails() ? -1 : REAL(unlink)(path); }
int mkdir(const char* path, mode_t mode) { return fails() ? -1 : REAL(mkdir)(path, mode); }

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if ((flags & O_CREAT) && fails()) return -1;
  return REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if ((flags & O_CREAT) && fails()) return -1;
  return REAL(open64)(path, flags, mode);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("ROWTIDE_FAULT_COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}
