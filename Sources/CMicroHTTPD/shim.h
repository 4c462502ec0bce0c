#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <microhttpd.h>

/* Swift cannot call variadic functions; these fix the arguments of the three that Headroom needs. */

static inline struct MHD_Daemon *headroom_mhd_start(
    unsigned int flags, MHD_AcceptPolicyCallback policy, MHD_AccessHandlerCallback handler, void *context,
    const struct MHD_OptionItem *options) {
  /* Port 0 is never used: the options name a socket that listens already. */
  return MHD_start_daemon(flags, 0, policy, context, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline int headroom_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline void *headroom_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

/* The connection's gnutls_session_t; NULL in clear text. */
static inline void *headroom_mhd_tls_session(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info == NULL ? NULL : info->tls_session;
}

static inline const struct sockaddr *headroom_mhd_client(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

/* For the library's URI callback, once the target has been copied. The library goes on to parse the query into the
   connection's memory, and drops a connection whose parameters do not fit in there; Headroom parses its own copy. What
   is left of the target ends behind the question mark, so that there is nothing to parse. The memory is the library's
   own, and it writes to it next: the "const" is for callbacks that only log. */
static inline void headroom_mhd_drop_query(const char *target) {
  char *query = strchr((char *)target, '?');
  if (query != NULL) query[1] = '\0';
}

/* For a 304: no body, and no Content-Length where the library can leave it out. Version 0.9.75, as Debian 12 has it,
   cannot: it says "Content-Length: 0". Clients that know RFC 9110 do not look at it, and old ones (wrk, ab) do not wait
   for a body that never comes. */
static inline struct MHD_Response *headroom_mhd_bodiless_response(void) {
  struct MHD_Response *response = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
#if MHD_VERSION >= 0x01000000
  if (response != NULL) MHD_set_response_options(response, MHD_RF_HEAD_ONLY_RESPONSE, MHD_RO_END);
#endif
  return response;
}

/* A descriptor that wakes the daemon's thread when it is written to, once a write; -1 where the library has no epoll set to
   add it to. The library passes over events without a pointer. */
static inline int headroom_mhd_waker(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int waker = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (waker >= 0 && (info == NULL || epoll_ctl(info->epoll_fd, EPOLL_CTL_ADD, waker, &event) != 0)) {
    close(waker);
    waker = -1;
  }
  return waker;
}

/* How many bytes the head of the request in hand takes up in the connection's memory, where it lies in one piece from the
   method on, with each line's end and each name's colon made zero; 0 where that is not so. Version 0.9.75 takes the value of
   a header up to a zero byte in it, and goes on with lines that a client has folded: what it passes over shows as a gap.
   Since 1.0 the library refuses such heads by itself. */
static inline size_t headroom_mhd_head_size(struct MHD_Connection *connection) {
#if MHD_VERSION < 0x01000000
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
#else
  (void)connection;
  return 0;
#endif
}
