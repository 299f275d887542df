#ifndef SOCKET_H
#define SOCKET_H
#include "buffer.h"
#include <stdbool.h>
#include <stdint.h>

/** Prints what is wrong and ends the program. */
_Noreturn void fail(const char *what);
/** Microseconds of the monotonic clock. */
int64_t now_us(void);
/** As many open files as the system allows this process. */
void raise_file_limit(void);
/** Listens on loopback. @returns the socket; `port` becomes the port that was free where it was 0 */
int listen_on(int *port);
/** Starts to connect to loopback. @returns the socket, or -1 */
int connect_to(int port);
void set_no_delay(int fd);

typedef enum { READ_SOME, READ_NOTHING, READ_END } ReadResult;
/** Adds what has arrived, at most one large read. */
ReadResult read_some(int fd, Buffer *into);
/** Sends what can be sent. @returns false where the connection is broken */
bool write_some(int fd, Buffer *from);

/** The value of a header in a head that ends with a zero, or NULL. @param name with its colon, in lower case */
const char *find_header(const char *head, const char *end, const char *name);
/** Where the head ends, past its empty line, or NULL. */
char *end_of_head(const Buffer *buffer);

#endif
