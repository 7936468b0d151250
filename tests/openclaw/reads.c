/* Preloaded into a host program: writes down each read transaction on OpenClaw's agent database.

   A read transaction in WAL mode is a shared lock on one of the bytes 123 to 127 of the -shm file, from its first statement to its end.
   Each gives a line in the file that SESSION_SEARCH_READS names: how long it took, and how much of that the thread ran and waited for a
   processor, in nanoseconds. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 123, LAST = 127 };

struct times {
  long long clock, ran, waited;
};

static struct times began[LAST + 1];

static struct times now(void) {
  struct times times = {0, 0, 0};
  struct timespec clock;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (file) {
    if (fscanf(file, "%lld %lld", &times.ran, &times.waited) != 2) times.waited = 0;
    fclose(file);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &clock);
  times.ran = clock.tv_sec * 1000000000LL + clock.tv_nsec;
  clock_gettime(CLOCK_MONOTONIC, &clock);
  times.clock = clock.tv_sec * 1000000000LL + clock.tv_nsec;
  return times;
}

static int is_of_agent(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/openclaw-agent.sqlite-shm") != NULL;
}

static void write_down(struct times from) {
  struct times to = now();
  FILE *file = fopen(getenv("SESSION_SEARCH_READS"), "a");
  if (!file) abort();
  fprintf(file, "%lld %lld %lld\n", to.clock - from.clock, to.ran - from.ran, to.waited - from.waited);
  fclose(file);
}

static void seen(int fd, const struct flock *lock) {
  if (lock->l_start < FIRST || lock->l_start > LAST || !is_of_agent(fd)) return;
  if (lock->l_type == F_RDLCK) began[lock->l_start] = now();
  for (long mark = lock->l_start; lock->l_type == F_UNLCK && mark <= LAST && mark < lock->l_start + lock->l_len; mark++) {
    if (began[mark].clock) write_down(began[mark]);
    began[mark].clock = 0;
  }
}

static int passed_on(const char *name, int fd, int command, void *argument) {
  int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  int result = real(fd, command, argument);
  if (result == 0 && command == F_SETLK) seen(fd, argument);
  return result;
}

#define PASS_ON(name)                                      \
  int name(int fd, int command, ...) {                     \
    va_list arguments;                                     \
    va_start(arguments, command);                          \
    void *argument = va_arg(arguments, void *);            \
    va_end(arguments);                                     \
    return passed_on(#name, fd, command, argument);        \
  }

PASS_ON(fcntl)
PASS_ON(fcntl64)
