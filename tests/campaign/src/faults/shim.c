// Makes the n-th call of a kind fail for files below a directory. Loaded by LD_PRELOAD; see mod.rs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char below[PATH_MAX];
static const char *kind = "";
static int wanted, error;
static atomic_int count;

__attribute__((constructor)) static void start(void) {
    const char *text = getenv("FAULT_BELOW");
    if (text) snprintf(below, sizeof below, "%s", text);
    if ((text = getenv("FAULT_KIND"))) kind = strdup(text);
    if ((text = getenv("FAULT_CALL"))) wanted = atoi(text);
    if ((text = getenv("FAULT_ERROR"))) error = atoi(text);
    // Programs that the victim starts are left alone.
    unsetenv("LD_PRELOAD");
}

// How many calls there were, for who chooses the one that fails.
__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%d", atomic_load(&count));
        fclose(file);
    }
}

static int is_below(int directory, const char *path) {
    char link[64], full[PATH_MAX];
    if (!*below) return 0;
    if (path && *path == '/') return strncmp(path, below, strlen(below)) == 0;
    if (directory == AT_FDCWD) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, full, sizeof full - 1);
    if (length < 0) return 0;
    full[length] = 0;
    return strncmp(full, below, strlen(below)) == 0;
}

static int fails(const char *name, int directory, const char *path) {
    int saved = errno, result = 0;
    if (strcmp(name, kind) == 0 && is_below(directory, path)) {
        result = atomic_fetch_add(&count, 1) + 1 == wanted;
    }
    errno = result ? error : saved;
    return result;
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPEN(name, directory, ...) { \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } \
    NEXT(name); \
    return fails("open", directory, path) ? -1 : next(__VA_ARGS__); }
int open(const char *path, int flags, ...) OPEN(open, AT_FDCWD, path, flags, mode)
int open64(const char *path, int flags, ...) OPEN(open64, AT_FDCWD, path, flags, mode)
int openat(int directory, const char *path, int flags, ...) OPEN(openat, directory, directory, path, flags, mode)
int openat64(int directory, const char *path, int flags, ...) OPEN(openat64, directory, directory, path, flags, mode)

ssize_t write(int file, const void *bytes, size_t length) {
    NEXT(write);
    return fails("write", file, NULL) ? -1 : next(file, bytes, length);
}
ssize_t read(int file, void *bytes, size_t length) {
    NEXT(read);
    return fails("read", file, NULL) ? -1 : next(file, bytes, length);
}
int fsync(int file) {
    NEXT(fsync);
    return fails("fsync", file, NULL) ? -1 : next(file);
}
int flock(int file, int operation) {
    NEXT(flock);
    return fails("flock", file, NULL) ? -1 : next(file, operation);
}
int rename(const char *from, const char *to) {
    NEXT(rename);
    return fails("rename", AT_FDCWD, to) ? -1 : next(from, to);
}
int renameat(int left, const char *from, int right, const char *to) {
    NEXT(renameat);
    return fails("rename", right, to) ? -1 : next(left, from, right, to);
}
int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir);
    return fails("mkdir", AT_FDCWD, path) ? -1 : next(path, mode);
}
int mkdirat(int directory, const char *path, mode_t mode) {
    NEXT(mkdirat);
    return fails("mkdir", directory, path) ? -1 : next(directory, path, mode);
}
int unlink(const char *path) {
    NEXT(unlink);
    return fails("unlink", AT_FDCWD, path) ? -1 : next(path);
}
int unlinkat(int directory, const char *path, int flags) {
    NEXT(unlinkat);
    return fails("unlink", directory, path) ? -1 : next(directory, path, flags);
}
