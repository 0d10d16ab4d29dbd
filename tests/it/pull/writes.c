/*
 * Preloaded into the program: numbers the calls that write below FAULT_FOLDER, from 1, and lets the one with the number FAULT_AT go
 * wrong. FAULT says in which way:
 *
 *   before, after   the process is killed before the call, or after it
 *   half            the process is killed after half of the bytes of the call were written
 *   28, 5, ...      the call fails with this errno
 *   !COMMAND        a shell runs the command before the call, which is then made
 *
 * FAULT_LOG is a file that gets a line with the name of each call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { NONE, FAILS, AFTER, HALF };

static int calls;

static void die(void) { kill(getpid(), SIGKILL); pause(); }

static int is_below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int is_file_below(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static void logged(const char *name) {
    const char *log = getenv("FAULT_LOG");
    int fd = log ? openat(AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        dprintf(fd, "%s\n", name);
        close(fd);
    }
}

/* The fault of this call. */
static int fault(const char *name) {
    const char *at = getenv("FAULT_AT"), *fault = getenv("FAULT");
    logged(name);
    calls += 1;
    if (!at || !fault || atoi(at) != calls) return NONE;
    if (strcmp(fault, "before") == 0) die();
    if (strcmp(fault, "after") == 0) return AFTER;
    if (strcmp(fault, "half") == 0) return HALF;
    if (fault[0] == '!') {
        char command[4096];
        snprintf(command, sizeof command, "%s", fault + 1);
        unsetenv("FAULT_FOLDER");
        if (system(command) != 0) abort();
        return NONE;
    }
    errno = atoi(fault);
    return FAILS;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Makes a call, with the fault that it has. */
#define CALL(name, type, is_relevant, ...)                          \
    int what = (is_relevant) ? fault(#name) : NONE;                 \
    if (what == FAILS) return -1;                                   \
    type result = REAL(name)(__VA_ARGS__);                          \
    if (what == AFTER || what == HALF) die();                       \
    return result;

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    CALL(open, int, (flags & (O_WRONLY | O_RDWR | O_CREAT)) && is_below(path), path, flags, mode)
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    CALL(open64, int, (flags & (O_WRONLY | O_RDWR | O_CREAT)) && is_below(path), path, flags, mode)
}

ssize_t write(int fd, const void *bytes, size_t count) {
    int what = is_file_below(fd) ? fault("write") : NONE;
    if (what == FAILS) return -1;
    ssize_t result = REAL(write)(fd, bytes, what == HALF ? count / 2 : count);
    if (what == AFTER || what == HALF) die();
    return result;
}

int fchmod(int fd, mode_t mode) { CALL(fchmod, int, is_file_below(fd), fd, mode) }
int fchown(int fd, uid_t user, gid_t group) { CALL(fchown, int, is_file_below(fd), fd, user, group) }
int fsync(int fd) { CALL(fsync, int, is_file_below(fd), fd) }
int fdatasync(int fd) { CALL(fdatasync, int, is_file_below(fd), fd) }
int ftruncate64(int fd, off64_t length) { CALL(ftruncate64, int, is_file_below(fd), fd, length) }
int rename(const char *from, const char *to) { CALL(rename, int, is_below(to), from, to) }
int unlink(const char *path) { CALL(unlink, int, is_below(path), path) }
int link(const char *from, const char *to) { CALL(link, int, is_below(to), from, to) }
int linkat(int base, const char *from, int other, const char *to, int flags) {
    if (is_below(to)) {
        int what = fault("link");
        if (what == FAILS) return -1;
        int result = REAL(linkat)(base, from, other, to, flags);
        if (what == AFTER || what == HALF) die();
        return result;
    }
    return REAL(linkat)(base, from, other, to, flags);
}
