/* A disk that fails, for faults.rs: preloaded into a process, it counts the calls that change
 * files below FAULTY_DIR and makes the one with the number FAULTY_CALL misbehave as FAULTY_KIND
 * says. It keeps a copy of every file as of its last successful sync, as a disk does, so that a
 * failed sync or a power cut can take back what was never durable.
 *
 *   eio, enospc, edquot   the call fails with this error
 *   torn                  a write stores its first half and fails with EIO
 *   dropped               a sync fails with EIO and its file is as at its last sync
 *   cut                   every file is as at its last sync, and the process is gone
 *   slow                  the call takes half a second
 *
 * The number of calls so far is kept in the file FAULTY_COUNT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls;
static __thread int inside;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The file name below FAULTY_DIR that a descriptor stands for, or NULL for any other. */
static const char *name_of(int fd, char *path) {
    const char *dir = getenv("FAULTY_DIR");
    char link[64];
    ssize_t length;
    if (inside || !dir || !getenv("FAULTY_CALL")) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    if (strncmp(path, dir, strlen(dir)) != 0 || path[strlen(dir)] != '/') return NULL;
    return path + strlen(dir) + 1;
}

static void copy(const char *from, const char *to) {
    char buffer[65536];
    ssize_t length;
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0600);
    off_t size = 0;
    while (in >= 0 && out >= 0 && (length = read(in, buffer, sizeof buffer)) > 0) {
        if (REAL(pwrite)(out, buffer, length, size) != length) abort();
        size += length;
    }
    if (out < 0 || REAL(ftruncate)(out, size) != 0) abort();
    if (in >= 0) close(in);
    close(out);
}

static void remember(const char *path, const char *name) {
    char synced[PATH_MAX];
    snprintf(synced, sizeof synced, "%s/%s", getenv("FAULTY_SYNCED"), name);
    copy(path, synced);
}

static void take_back(const char *name) {
    char path[PATH_MAX], synced[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", getenv("FAULTY_DIR"), name);
    snprintf(synced, sizeof synced, "%s/%s", getenv("FAULTY_SYNCED"), name);
    copy(synced, path);
}

static void cut(void) {
    DIR *dir = opendir(getenv("FAULTY_DIR"));
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (entry->d_type == DT_REG && strcmp(entry->d_name, "lock") != 0) take_back(entry->d_name);
    _exit(99);
}

/* Counts a call; returns the error number with which it fails, 0 if it goes on. */
static int strike(int fd, int is_sync, size_t *length) {
    char path[PATH_MAX], text[32];
    const char *kind = getenv("FAULTY_KIND"), *name;
    int saved = errno, fails = 0, count;
    pthread_mutex_lock(&lock);
    name = name_of(fd, path);
    if (name && !strstr(name, "-shm")) {
        inside = 1;
        calls++;
        count = open(getenv("FAULTY_COUNT"), O_WRONLY | O_CREAT, 0600);
        snprintf(text, sizeof text, "%019ld", calls);
        if (REAL(pwrite)(count, text, strlen(text), 0) < 0) abort();
        close(count);
        if (calls == atol(getenv("FAULTY_CALL"))) {
            if (!strcmp(kind, "eio")) fails = EIO;
            if (!strcmp(kind, "enospc")) fails = ENOSPC;
            if (!strcmp(kind, "edquot")) fails = EDQUOT;
            if (!strcmp(kind, "cut")) cut();
            if (!strcmp(kind, "slow")) usleep(500000);
            if (!strcmp(kind, "torn") && length) *length /= 2, fails = EIO;
            if (!strcmp(kind, "dropped") && is_sync) take_back(name), fails = EIO;
        }
        inside = 0;
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return fails;
}

static ssize_t finish_write(ssize_t written, int fails) {
    if (!fails) return written;
    errno = fails;
    return -1;
}

#define WRITE_AT(name, offset_type)                                              \
    ssize_t name(int fd, const void *bytes, size_t length, offset_type offset) { \
        size_t half = length;                                                    \
        int fails = strike(fd, 0, &half);                                        \
        ssize_t written = length;                                                \
        if (!fails || half < length) written = REAL(name)(fd, bytes, half, offset); \
        return finish_write(written, fails);                                     \
    }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t length) {
    size_t half = length;
    int fails = strike(fd, 0, &half);
    ssize_t written = length;
    if (!fails || half < length) written = REAL(write)(fd, bytes, half);
    return finish_write(written, fails);
}

static int sync_with(int (*real)(int), int fd) {
    char path[PATH_MAX];
    const char *name;
    int fails = strike(fd, 1, NULL), done;
    if (fails) return errno = fails, -1;
    done = real(fd);
    pthread_mutex_lock(&lock);
    name = name_of(fd, path);
    if (done == 0 && name && getenv("FAULTY_SYNCED")) inside = 1, remember(path, name), inside = 0;
    pthread_mutex_unlock(&lock);
    return done;
}
int fsync(int fd) { return sync_with(REAL(fsync), fd); }
int fdatasync(int fd) { return sync_with(REAL(fdatasync), fd); }

#define TRUNCATE(name, offset_type)                \
    int name(int fd, offset_type length) {         \
        int fails = strike(fd, 0, NULL);           \
        if (fails) return errno = fails, -1;       \
        return REAL(name)(fd, length);             \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)
