#include <string.h>
#include <zlib.h>

/* zlib's initializers are macros, which Swift does not see. 16 + 15: gzip's frame, the largest window. */

static inline int headroom_gzip_begin(z_stream *stream, int level) {
  memset(stream, 0, sizeof(*stream));
  return deflateInit2(stream, level, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY);
}

static inline int headroom_gunzip_begin(z_stream *stream) {
  memset(stream, 0, sizeof(*stream));
  return inflateInit2(stream, 16 + 15);
}
