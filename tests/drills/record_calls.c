/* Loaded before the C library (LD_PRELOAD): writes down every call that changes files below a folder, in the order of their
 * ends, so that a drill can tell what a disk without power would still have of them.
 *
 *   ROWTIDE_RECORD = FILE          where to
 *   ROWTIDE_RECORD_BELOW = FOLDER  absolute
 *   ROWTIDE_RECORD_MOST = N        after the N-th the process is killed
 *
 * A record is a line `kind offset bytes path-bytes other-path-bytes`, then path, other path and the bytes that were written. Kinds:
 * create, write, truncate, sync, mkdir, rmdir, rename, link, unlink. Paths are absolute, as they are at that moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int record = -1;
static const char* below;
static long left = -1;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("ROWTIDE_RECORD");
  below = getenv("ROWTIDE_RECORD_BELOW");
  const char* most = getenv("ROWTIDE_RECORD_MOST");
  if (most) left = atol(most);
  if (path && below) record = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/* The folder that `at` stands for, then `path`. */
static void absolute(int at, const char* path, char* out) {
  char link[64];
  if (path[0] == '/') {
    snprintf(out, PATH_MAX, "%s", path);
    return;
  }
  if (at == AT_FDCWD) {
    if (!getcwd(out, PATH_MAX)) out[0] = 0;
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    const ssize_t count = readlink(link, out, PATH_MAX - 1);
    out[count < 0 ? 0 : count] = 0;
  }
  const size_t size = strlen(out);
  if (path[0]) snprintf(out + size, PATH_MAX - size, "/%s", path);
}

static void put(const void* bytes, size_t count) {
  for (const char* at = bytes; count > 0;) {
    const ssize_t done = REAL(write)(record, at, count);
    if (done <= 0) return;
    at += done;
    count -= (size_t)done;
  }
}

static void note(const char* kind, const char* path, const char* other, long long offset, const void* bytes, size_t count) {
  if (record < 0 || strncmp(path, below, strlen(below)) != 0) return;
  char head[128];
  const int size = snprintf(head, sizeof head, "%s %lld %zu %zu %zu\n", kind, offset, count, strlen(path), strlen(other));
  put(head, (size_t)size);
  put(path, strlen(path));
  put(other, strlen(other));
  put(bytes, count);
  if (left > 0 && --left == 0) kill(getpid(), SIGKILL);
}

static void note_of(const char* kind, int descriptor, long long offset, const void* bytes, size_t count) {
  char path[PATH_MAX];
  absolute(descriptor, "", path);
  note(kind, path, "", offset, bytes, count);
}

#define IN_TURN(type, call, then)     \
  pthread_mutex_lock(&turn);          \
  const type result = call;           \
  const int fault = errno;            \
  if (result >= 0) { then; }          \
  pthread_mutex_unlock(&turn);        \
  errno = fault;                      \
  return result

ssize_t write(int descriptor, const void* bytes, size_t count) {
  IN_TURN(ssize_t, REAL(write)(descriptor, bytes, count),
          note_of("write", descriptor, (long long)lseek(descriptor, 0, SEEK_CUR) - result, bytes, (size_t)result));
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t done = write(descriptor, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return all > 0 ? all : done;
    all += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return all;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  IN_TURN(ssize_t, REAL(pwrite64)(descriptor, bytes, count, offset), note_of("write", descriptor, offset, bytes, (size_t)result));
}
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) { return pwrite64(descriptor, bytes, count, offset); }

/* Copies by the kernel: read and write instead. */
ssize_t sendfile64(int to, int from, off64_t* offset, size_t count) {
  char bytes[1 << 16];
  if (count > sizeof bytes) count = sizeof bytes;
  const ssize_t got = offset ? pread64(from, bytes, count, *offset) : read(from, bytes, count);
  if (got <= 0) return got;
  if (offset) *offset += got;
  return write(to, bytes, (size_t)got);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t count) { return sendfile64(to, from, offset, count); }
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t count, unsigned flags) {
  (void)from, (void)from_offset, (void)to, (void)to_offset, (void)count, (void)flags;
  errno = EXDEV;
  return -1;
}

int ftruncate64(int descriptor, off64_t size) {
  IN_TURN(int, REAL(ftruncate64)(descriptor, size), note_of("truncate", descriptor, size, "", 0));
}
int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
int fsync(int descriptor) { IN_TURN(int, REAL(fsync)(descriptor), note_of("sync", descriptor, 0, "", 0)); }
int fdatasync(int descriptor) { IN_TURN(int, REAL(fdatasync)(descriptor), note_of("sync", descriptor, 0, "", 0)); }

#define WITH_PATHS(from, to)                 \
  char one[PATH_MAX], other[PATH_MAX] = "";  \
  absolute(AT_FDCWD, from, one);             \
  if (*(to)) absolute(AT_FDCWD, to, other)

int rename(const char* from, const char* to) {
  WITH_PATHS(from, to);
  IN_TURN(int, REAL(rename)(from, to), note("rename", one, other, 0, "", 0));
}
int link(const char* from, const char* to) {
  WITH_PATHS(from, to);
  IN_TURN(int, REAL(link)(from, to), note("link", one, other, 0, "", 0));
}
int unlink(const char* path) {
  WITH_PATHS(path, "");
  IN_TURN(int, REAL(unlink)(path), note("unlink", one, other, 0, "", 0));
}
int unlinkat(int at, const char* path, int flags) {
  char one[PATH_MAX];
  absolute(at, path, one);
  IN_TURN(int, REAL(unlinkat)(at, path, flags), note(flags & AT_REMOVEDIR ? "rmdir" : "unlink", one, "", 0, "", 0));
}
int rmdir(const char* path) {
  WITH_PATHS(path, "");
  IN_TURN(int, REAL(rmdir)(path), note("rmdir", one, other, 0, "", 0));
}
int remove(const char* path) {
  struct stat what;
  if (lstat(path, &what) != 0) return -1;
  return S_ISDIR(what.st_mode) ? rmdir(path) : unlink(path);
}
int mkdir(const char* path, mode_t mode) {
  WITH_PATHS(path, "");
  IN_TURN(int, REAL(mkdir)(path, mode), note("mkdir", one, other, 0, "", 0));
}

static int opened(int at, const char* path, int flags, mode_t mode) {
  char one[PATH_MAX];
  absolute(at, path, one);
  IN_TURN(int, REAL(openat64)(at, path, flags, mode), {
    if (flags & O_CREAT) note("create", one, "", 0, "", 0);
    if (flags & O_TRUNC) note("truncate", one, "", 0, "", 0);
  });
}

#define OPEN(declaration, at)                                         \
  declaration {                                                       \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                     \
    return opened(at, path, flags, mode);                             \
  }
OPEN(int open(const char* path, int flags, ...), AT_FDCWD)
OPEN(int open64(const char* path, int flags, ...), AT_FDCWD)
OPEN(int openat(int at, const char* path, int flags, ...), at)
OPEN(int openat64(int at, const char* path, int flags, ...), at)
