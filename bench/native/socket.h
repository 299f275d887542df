#ifndef SOCKET_H
#define SOCKET_H
#include "buffer.h"
#include <stdbool.h>
#include <stdint.h>

/** Prints an error and ends the program. */
_Noreturn void fail(const char *what);
/** Microseconds of the monotonic clock. */
int64_t now_us(void);
/** Raises the limit of open files to the maximum that the system allows. */
void raise_file_limit(void);
/** Listens on loopback. @returns the socket. If `port` is 0, a free port is chosen and written there. */
int listen_on(int *port);
/** Starts to connect to loopback. @returns the socket, or -1 */
int connect_to(int port);
void set_no_delay(int fd);

typedef enum { READ_SOME, READ_NOTHING, READ_END } ReadResult;
/** Adds the received bytes, at most one large read. */
ReadResult read_some(int fd, Buffer *into);
/** Sends as many bytes as the socket takes. @returns false if the connection is broken */
bool write_some(int fd, Buffer *from);

/** Finds the value of a header, or NULL, in a zero-terminated head. @param name with its colon, in lower case */
const char *find_header(const char *head, const char *end, const char *name);
/** Finds the end of the head, after its empty line, or NULL. */
char *end_of_head(const Buffer *buffer);

#endif
