// What libtracecmd and libtraceevent read from a trace.dat, as sums: the reader's tests compare it with their own.
//
//     oracle FILE          for each buffer, event type and field: a line "buffer|system:event|field|kind|sum"
//     oracle --time FILE   decode every number of every event with the fields' offsets at hand; print the number of events
//
// Sums are modulo 2^64. A text is summed as FNV-1a hashes of its bytes up to the first NUL.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

int tracecmd_cpus(struct tracecmd_input *handle); // in the library, not in its header

#define MOST_FIELDS 128

struct sums {
	struct tep_event *event;
	struct tep_format_field *fields[MOST_FIELDS];
	int nr_fields;
	uint64_t count, ts, cpu, pid, values[MOST_FIELDS];
	struct sums *next;
};

static bool is_number(struct tep_format_field *field)
{
	bool sized = field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;

	return sized && !(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_STRING));
}

static bool is_text(struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING;
}

// tep_read_number_field() leaves the sign of what is shorter than 8 bytes to its caller.
static uint64_t number_of(struct tep_format_field *field, struct tep_record *record)
{
	unsigned long long value = 0;
	int unused = 64 - 8 * field->size;

	tep_read_number_field(field, record->data, &value);
	if (field->flags & TEP_FIELD_IS_SIGNED)
		return (uint64_t)((int64_t)(value << unused) >> unused);
	return value;
}

static uint64_t hash(const char *text, unsigned long size)
{
	uint64_t value = 0xcbf29ce484222325ULL;

	for (unsigned long i = 0; i < size && text[i]; i++)
		value = (value ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return value;
}

static uint64_t text_of(struct tep_handle *tep, struct tep_format_field *field, struct tep_record *record)
{
	unsigned long offset = field->offset, size = field->size;

	if (field->flags & TEP_FIELD_IS_DYNAMIC) {
		unsigned long long said = tep_read_number(tep, (char *)record->data + field->offset, field->size);

		offset = said & 0xffff;
		size = said >> 16;
		if (field->flags & TEP_FIELD_IS_RELATIVE)
			offset += field->offset + field->size;
	} else if (!size) {
		size = record->size - field->offset;
	}
	return hash((char *)record->data + offset, size);
}

static struct sums *sums_of(struct sums **all, struct tep_event *event)
{
	struct sums *found;
	struct tep_format_field *lists[] = { event->format.common_fields, event->format.fields };

	for (found = *all; found; found = found->next)
		if (found->event == event)
			return found;
	found = calloc(1, sizeof(*found));
	found->event = event;
	for (int i = 0; i < 2; i++)
		for (struct tep_format_field *field = lists[i]; field; field = field->next)
			if (found->nr_fields < MOST_FIELDS && (is_number(field) || is_text(field)))
				found->fields[found->nr_fields++] = field;
	found->next = *all;
	*all = found;
	return found;
}

static void add(struct tep_handle *tep, struct sums *sums, struct tep_record *record)
{
	unsigned long long value;

	sums->count++;
	sums->ts += record->ts;
	sums->cpu += record->cpu;
	sums->pid += tep_data_pid(tep, record);
	for (int i = 0; i < sums->nr_fields; i++) {
		if (is_text(sums->fields[i]))
			value = text_of(tep, sums->fields[i], record);
		else
			value = number_of(sums->fields[i], record);
		sums->values[i] += value;
	}
}

static void print(const char *buffer, struct sums *all)
{
	for (; all; all = all->next) {
		const char *event = all->event->name, *system = all->event->system;

		printf("%s|%s:%s|#|number|%llu\n", buffer, system, event, (unsigned long long)all->count);
		printf("%s|%s:%s|@ts|number|%llu\n", buffer, system, event, (unsigned long long)all->ts);
		printf("%s|%s:%s|@cpu|number|%llu\n", buffer, system, event, (unsigned long long)all->cpu);
		printf("%s|%s:%s|@pid|number|%llu\n", buffer, system, event, (unsigned long long)all->pid);
		for (int i = 0; i < all->nr_fields; i++)
			printf("%s|%s:%s|%s|%s|%llu\n", buffer, system, event, all->fields[i]->name,
			       is_text(all->fields[i]) ? "text" : "number", (unsigned long long)all->values[i]);
	}
}

static void read_all(struct tracecmd_input *input, struct sums **all)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	struct tep_record *record;
	struct tep_event *event;
	struct sums *last = NULL;

	for (int cpu = 0; cpu < tracecmd_cpus(input); cpu++) {
		while ((record = tracecmd_read_data(input, cpu))) {
			event = tep_find_event_by_record(tep, record);
			if (!last || last->event != event)
				last = event ? sums_of(all, event) : NULL;
			if (last)
				add(tep, last, record);
			tracecmd_free_record(record);
		}
	}
}

int main(int argc, char **argv)
{
	bool is_timed = argc == 3 && !strcmp(argv[1], "--time");
	struct tracecmd_input *input;
	struct sums *all = NULL;

	if (argc != 2 + is_timed)
		return 2;
	input = tracecmd_open(argv[argc - 1], TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!input)
		return 1;
	read_all(input, &all);
	if (is_timed) {
		uint64_t count = 0;

		for (; all; all = all->next)
			count += all->count;
		printf("%llu\n", (unsigned long long)count);
		return 0;
	}
	print("", all);
	for (int i = 0; i < tracecmd_buffer_instances(input); i++) {
		struct sums *own = NULL;

		read_all(tracecmd_buffer_instance_handle(input, i), &own);
		print(tracecmd_buffer_instance_name(input, i), own);
	}
	return 0;
}
