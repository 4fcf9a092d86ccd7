// SPDX-License-Identifier: MIT
// A program that writes a little, and says for how long it was stalled:
//   writer append FILE BYTES IDLE_MS      writes to one file
//   writer create PREFIX BYTES IDLE_MS    makes a file each time
// On SIGTERM it prints the longest open, the longest write and how much longer than asked a sleep took, all in
// milliseconds, and the number of writes.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static long long now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static long long longer(long long longest, long long since_us)
{
	long long took = now_us() - since_us;

	return took > longest ? took : longest;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	long long open_us = 0, write_us = 0, late_us = 0, began, count = 0;
	int create, fd = -1;

	if (argc != 5) {
		fprintf(stderr, "usage: writer append|create FILE BYTES IDLE_MS\n");
		return 2;
	}
	create = !strcmp(argv[1], "create");
	size_t bytes = strtoul(argv[3], NULL, 10);
	long idle_us = 1000 * atol(argv[4]);
	struct timespec idle = { idle_us / 1000000, idle_us % 1000000 * 1000 };
	char *data = calloc(1, bytes + 1), name[4096];

	sigaction(SIGTERM, &action, NULL);
	while (data && !ended) {
		if (create || fd < 0) {
			int length = create ? snprintf(name, sizeof(name), "%s.%lld", argv[2], count) :
					      snprintf(name, sizeof(name), "%s", argv[2]);
			if (length < 0 || length >= (int)sizeof(name))
				return 2;
			began = now_us();
			fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
			open_us = longer(open_us, began);
			if (fd < 0)
				break;
		}
		began = now_us();
		if (write(fd, data, bytes) != (ssize_t)bytes)
			break;
		write_us = longer(write_us, began);
		count++;
		if (create)
			close(fd);
		began = now_us();
		if (!nanosleep(&idle, NULL))
			late_us = longer(late_us, began + idle_us);
	}
	if (!ended) {
		fprintf(stderr, "writer: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	printf("%lld %lld %lld %lld\n", open_us / 1000, write_us / 1000, late_us / 1000, count);
	return 0;
}
