import { type Asked, asked } from './questions.ts'

/**
 * Questions about four further repositories, and bug reports in the words of users of them. All were written before the
 * search was asked any; nothing is fitted on them.
 */
export const OWN: Asked[] = [
  asked('redis', 'C', [
    ['How is the key to evict chosen when the memory limit is reached?', 'src/evict.c'],
    ['How are expired keys sampled and deleted in the background?', 'src/expire.c'],
    ['Where is a hash table rehashed in small steps?', 'src/dict.c'],
    ['When does the append only file get rewritten by itself?', 'src/server.c'],
    ['How does a replica ask its master for a partial resynchronization?', 'src/replication.c'],
    ['How is a sorted set turned from a listpack into a skip list?', 'src/t_zset.c'],
    ['How are blocked clients served when an element is pushed to a list?', 'src/blocked.c', 'src/t_list.c'],
    ['Where is the slot of a key with a hash tag computed?', 'src/cluster.c'],
    ['How are clients that read too slowly disconnected by their output buffer?', 'src/networking.c'],
    ['How does sentinel vote for a leader of the failover?', 'src/sentinel.c'],
  ]),
  asked('restic', 'Go', [
    ['How is the file content cut into chunks and saved?', 'internal/archiver/file_saver.go'],
    ['Which snapshots does a policy keep when old ones are forgotten?', 'internal/restic/snapshot_policy.go'],
    [
      'How is the key for encryption derived from the password?',
      'internal/crypto/kdf.go',
      'internal/repository/key.go',
    ],
    ['How is a stale lock of the repository recognized?', 'internal/restic/lock.go'],
    ['How are unused blobs found and removed by prune?', 'cmd/restic/cmd_prune.go', 'internal/repository/repack.go'],
    ['How does it retry operations of the backend that fail?', 'internal/backend/backend_retry.go'],
    ['Where are exclude patterns matched against paths?', 'internal/filter/filter.go'],
    ['How are hard links restored?', 'internal/restorer/restorer.go', 'internal/restorer/hardlinks_index.go'],
    ['How is the header of a pack file written?', 'internal/pack/pack.go'],
    ['How is it decided that a file has not changed since the parent snapshot?', 'internal/archiver/archiver.go'],
  ]),
  asked('npm:undici@7.16.0', 'JavaScript', [
    ['How are redirects followed and sensitive headers removed?', 'lib/handler/redirect-handler.js'],
    ['After what time is a failed request tried again?', 'lib/handler/retry-handler.js'],
    ['Which connection of the balanced pool gets the next request?', 'lib/dispatcher/balanced-pool.js'],
    ['How is decided which hosts bypass the proxy?', 'lib/dispatcher/env-http-proxy-agent.js'],
    ['Where are header names checked for invalid characters?', 'lib/core/util.js', 'lib/core/request.js'],
    ['How are TLS sessions reused for later sockets?', 'lib/core/connect.js'],
    ['How is a multipart form parsed?', 'lib/web/fetch/formdata-parser.js'],
    ['How are frames of a web socket masked?', 'lib/web/websocket/frame.js'],
    [
      'How is the freshness of a stored response decided by the cache?',
      'lib/interceptor/cache.js',
      'lib/handler/cache-handler.js',
    ],
    ['How is a response body limited when it is dumped?', 'lib/interceptor/dump.js', 'lib/api/readable.js'],
  ]),
  asked('npm:mongodb@6.20.0', 'TypeScript', [
    ['How are idle connections removed and the minimum of the pool kept?', 'src/cmap/connection_pool.ts'],
    ['How are servers picked by their round trip time?', 'src/sdam/server_selection.ts'],
    ['How does a transaction get retried after a transient error?', 'src/sessions.ts'],
    ['Which errors make a write retryable?', 'src/error.ts'],
    ['How is a change stream resumed after an error?', 'src/change_stream.ts', 'src/cursor/change_stream_cursor.ts'],
    ['How is the proof of the SCRAM login computed?', 'src/cmap/auth/scram.ts'],
    ['How are SRV records looked up and checked?', 'src/connection_string.ts', 'src/sdam/srv_polling.ts'],
    ['How are bulk operations split into batches by size?', 'src/bulk/ordered.ts', 'src/bulk/unordered.ts'],
    ['How are the chunks of an uploaded file written and its index made?', 'src/gridfs/upload.ts'],
    ['How is a newer primary told from a stale one by its election id?', 'src/sdam/topology_description.ts'],
  ]),
]

/** Bug reports as users write them into the tracker of a project, and the files of which one has to change. */
export const REPORTED: Asked[] = [
  asked('redis', 'C', [
    [
      'I set maxmemory to 2gb with allkeys-lru but after some hours all writes fail with OOM command not allowed',
      'src/evict.c',
      'src/server.c',
    ],
    [
      'memory keeps growing although all my keys have a ttl, seems they are only removed once I GET them',
      'src/expire.c',
      'src/db.c',
    ],
    ['After a power cut the server refuses to start: Bad file format reading the append only file', 'src/aof.c'],
    ['replica does a full sync every time the network drops for two seconds', 'src/replication.c'],
    [
      'BLPOP hangs forever even though another client pushed to the list inside of a MULTI',
      'src/blocked.c',
      'src/t_list.c',
    ],
    ['SORT BY nosort with GET pattern returns nil for hash fields', 'src/sort.c'],
    ['GEOSEARCH misses points near the border of the box close to the pole', 'src/geo.c', 'src/geohash_helper.c'],
    [
      'Our lua script was killed with Script killed by user but the write had already been done',
      'src/script.c',
      'src/script_lua.c',
      'src/eval.c',
    ],
    ['A new user I created with ACL SETUSER can still run CONFIG although I gave only +@read', 'src/acl.c'],
    ['redis-cli --bigkeys prints 100% at once and finds nothing', 'src/redis-cli.c'],
  ]),
  asked('restic', 'Go', [
    [
      'backup aborts with "unable to create lock in backend: repository is already locked" although no other process runs',
      'internal/restic/lock.go',
      'cmd/restic/lock.go',
    ],
    [
      'forget --keep-daily 7 deleted the only snapshot of last week',
      'internal/restic/snapshot_policy.go',
      'cmd/restic/cmd_forget.go',
    ],
    [
      'Restoring to an external disk fails, files owned by root end up owned by me and no error is shown',
      'internal/restic/node.go',
      'internal/restorer/restorer.go',
    ],
    ['uploading to my sftp nas stops with connection lost after ten minutes', 'internal/backend/sftp/sftp.go'],
    [
      'mounted backup folder is empty when I browse it with the file manager',
      'internal/fuse/dir.go',
      'internal/fuse/root.go',
      'internal/fuse/snapshots_dir.go',
      'internal/fuse/snapshots_dirstruct.go',
      'cmd/restic/cmd_mount.go',
    ],
    [
      'The cache directory eats 40 GB of my laptop and never gets smaller',
      'internal/cache/cache.go',
      'internal/cache/dir.go',
      'internal/cache/file.go',
      'cmd/restic/cmd_cache.go',
    ],
    [
      'I mistyped the password twice when adding a second key and it was accepted',
      'cmd/restic/cmd_key.go',
      'cmd/restic/global.go',
    ],
    ['--exclude="*.tmp" also skips a folder named foo.tmp.d', 'internal/filter/filter.go', 'cmd/restic/exclude.go'],
    [
      'progress shows 0% and ETA 0:00 the whole time when not run in a terminal',
      'internal/ui/backup/progress.go',
      'internal/ui/backup/text.go',
      'internal/ui/progress/counter.go',
      'cmd/restic/progress.go',
      'internal/ui/termstatus/status.go',
    ],
    ['S3 upload with a temporary AWS token fails with access denied after one hour', 'internal/backend/s3/s3.go'],
  ]),
  asked('npm:undici@7.16.0', 'JavaScript', [
    [
      'my Authorization header is sent to another domain after a 302',
      'lib/handler/redirect-handler.js',
      'lib/web/fetch/index.js',
    ],
    [
      'fetch fails with other side closed on the second request, works when I disable keepalive',
      'lib/dispatcher/client-h1.js',
      'lib/dispatcher/client.js',
    ],
    [
      'NO_PROXY=.corp.local is ignored, requests still go through the company proxy',
      'lib/dispatcher/env-http-proxy-agent.js',
    ],
    [
      'uploading a file with umlauts in its name gives a broken filename on the server',
      'lib/web/fetch/body.js',
      'lib/web/fetch/formdata.js',
      'lib/web/fetch/formdata-parser.js',
    ],
    [
      'socket closes with code 1006 when the server sends a compressed message larger than 64k',
      'lib/web/websocket/receiver.js',
      'lib/web/websocket/permessage-deflate.js',
      'lib/web/websocket/websocket.js',
      'lib/web/websocket/connection.js',
    ],
    [
      'Process leaks sockets when I abort a download halfway',
      'lib/api/readable.js',
      'lib/api/api-request.js',
      'lib/api/abort-signal.js',
      'lib/dispatcher/client-h1.js',
    ],
    ['Set-Cookie with Expires in two digit year is parsed as 1970', 'lib/web/cookies/parse.js', 'lib/util/date.js'],
    [
      'EventSource reconnects at once in a tight loop though server said retry: 5000',
      'lib/web/eventsource/eventsource.js',
      'lib/web/eventsource/eventsource-stream.js',
    ],
    [
      'mocked reply is used only one time, the next call hits the real network',
      'lib/mock/mock-utils.js',
      'lib/mock/mock-interceptor.js',
      'lib/mock/mock-agent.js',
    ],
    [
      'I get a stale answer from the cache interceptor after a PUT to the same url',
      'lib/interceptor/cache.js',
      'lib/handler/cache-handler.js',
      'lib/cache/memory-cache-store.js',
      'lib/cache/sqlite-cache-store.js',
      'lib/util/cache.js',
    ],
  ]),
  asked('npm:mongodb@6.20.0', 'TypeScript', [
    [
      'Timed out while checking out a connection from connection pool under load, though only 20 queries run',
      'src/cmap/connection_pool.ts',
      'src/cmap/errors.ts',
    ],
    [
      'after failover of the replica set my app keeps writing to the old primary and gets not writable primary',
      'src/sdam/topology_description.ts',
      'src/sdam/server.ts',
      'src/sdam/topology.ts',
      'src/error.ts',
    ],
    [
      'the callback of withTransaction runs two times and inserts my order twice',
      'src/sessions.ts',
      'src/transactions.ts',
    ],
    ['password with an @ sign in the uri gives Invalid connection string', 'src/connection_string.ts'],
    [
      'process never exits after client.close, a timer of the heartbeat stays',
      'src/sdam/monitor.ts',
      'src/sdam/topology.ts',
      'src/mongo_client.ts',
      'src/sdam/server.ts',
    ],
    ['downloading a large file stops at the first 255 kB without error', 'src/gridfs/download.ts'],
    [
      'watch() loses events when the network is gone for a minute',
      'src/change_stream.ts',
      'src/cursor/change_stream_cursor.ts',
    ],
    [
      'Lambda login with IAM role fails: ExpiredToken after some hours',
      'src/cmap/auth/mongodb_aws.ts',
      'src/cmap/auth/aws_temporary_credentials.ts',
    ],
    [
      'insertMany with ordered false reports wrong index of the duplicate document',
      'src/bulk/unordered.ts',
      'src/bulk/common.ts',
    ],
    [
      'reads go to a node on another continent even though nearest is set',
      'src/sdam/server_selection.ts',
      'src/read_preference.ts',
    ],
  ]),
]
