/* Measure one's own stalls: write 4 KiB each 50 ms, and sync it if told "fsync". Prints the calls that took over 100 ms. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void tell(const char *call, long long start_ns, long long end_ns)
{
	if (end_ns - start_ns > 100000000)
		printf("%s %lld %lld\n", call, start_ns, end_ns);
	fflush(stdout);
}

int main(int count, char **words)
{
	static char block[4096];
	int file;

	if (count < 3 || (file = open(words[2], O_CREAT | O_WRONLY | O_APPEND, 0644)) < 0)
		return 1;
	for (;;) {
		long long start_ns = now_ns(), end_ns;

		if (write(file, block, sizeof(block)) < 0)
			return 1;
		end_ns = now_ns();
		tell("write", start_ns, end_ns);
		if (!strcmp(words[1], "fsync")) {
			fsync(file);
			tell("fsync", end_ns, now_ns());
		}
		usleep(50000);
	}
}
