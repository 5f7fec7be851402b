import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../test/doubles/free-port.ts'
import { type Running, startServer } from './http-process.ts'

/** nginx as a plain reverse proxy to `upstream`: one worker, kept-alive connections, streams passed on as they come. */
export function startProxy(folder: string, upstream: Running): Promise<Running> {
  return startNginx(folder, (port) => [
    `upstream model { server 127.0.0.1:${upstream.port}; keepalive 128; }`,
    `server { listen 127.0.0.1:${port}; location / {`,
    'proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } }',
  ])
}

async function startNginx(folder: string, servers: (port: number) => string[]): Promise<Running> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  // Without a master, the process that is started is the one worker, and its processor time the whole.
  const config = [
    'daemon off; master_process off;',
    `pid ${folder}/nginx.pid; error_log stderr;`,
    'events { worker_connections 1024; }',
    'http { access_log off; keepalive_requests 100000000;',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${folder}/${part};`),
    ...servers(port),
    '}',
  ]
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, config.join('\n'))
  const env = { PATH: `${process.env.PATH}:/usr/sbin` }
  return startServer('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], { port, env })
}
