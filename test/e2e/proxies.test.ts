import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

const NAME = 'gateway.example.com'
const started: { kill(): void }[] = []
after(() => {
  for (const proxy of started) proxy.kill()
})

/** Asks through a proxy as a client of {@link NAME} does. */
async function ask(port: number, path: string, { key = '', body = '' } = {}) {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path,
    method: body === '' ? 'GET' : 'POST',
    servername: NAME,
    rejectUnauthorized: false,
    headers: { host: NAME, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  outgoing.end(body)
  const [reply] = await once(outgoing, 'response')
  const parts: string[] = []
  for await (const part of reply) parts.push(String(part))
  return { status: reply.statusCode as number, parts, text: parts.join('') }
}

const LONG = JSON.stringify({
  model: 'sandbox',
  stream: true,
  messages: [{ role: 'user', content: 'Say something long about parcels and tracking.' }],
})

/** Asserts what a client of a gateway behind a proxy with TLS expects. */
async function assertServes(port: number, key: string): Promise<void> {
  await until(async () => (await ask(port, '/readyz').catch(() => null))?.status === 200, { seconds: 30 })
  assert.equal((await ask(port, '/v1/models', { key })).status, 200)
  assert.equal((await ask(port, '/v1/models')).status, 401)
  const stream = await ask(port, '/v1/chat/completions', { key, body: LONG })
  assert.equal(stream.status, 200)
  assert.match(stream.text, /data: \[DONE\]/)
  const large = JSON.stringify({ model: 'sandbox', messages: [{ role: 'user', content: 'x'.repeat(2 << 20) }] })
  assert.notEqual((await ask(port, '/v1/chat/completions', { key, body: large })).status, 413)
}

/** A gateway that knows the name and the proxy as the files say. */
async function startBehind() {
  const place = newPlace()
  mkdirSync(place.data, { recursive: true })
  const http = { allowed_hosts: [NAME], trusted_proxies: ['127.0.0.1'] }
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ http }))
  return { place, gateway: await startGatewayProcess(place, { args: ['--upstream', 'sandbox'] }) }
}

const missing = (program: string, ...args: string[]) =>
  spawnSync(program, args).status !== 0 ? `there is no ${program}` : (noCertificates() ?? false)

describe('deploy/nginx.conf', { skip: missing('nginx', '-v') }, () => {
  it('passes a gateway on with TLS, and no metrics', async () => {
    const { place, gateway } = await startBehind()
    const port = await freePort()
    const [key, certificate] = [join(place.temporary, 'tls.key'), join(place.temporary, 'tls.pem')]
    makeCertificate(key, certificate)
    const site = readFileSync('deploy/nginx.conf', 'utf8')
      .replace('127.0.0.1:8811', new URL(gateway.url).host)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    const file = join(place.temporary, 'nginx.conf')
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${join(place.temporary, kind)};`,
    )
    writeFileSync(
      file,
      `daemon off; pid ${join(place.temporary, 'nginx.pid')}; error_log stderr;\nevents {}\nhttp { access_log off; ${folders.join(' ')}\n${site}\n}\n`,
    )
    const nginx = spawn('nginx', ['-c', file, '-p', place.temporary, '-e', 'stderr'], { stdio: 'ignore' })
    started.push(nginx)
    await assertServes(port, gateway.key)
    assert.equal((await ask(port, '/metrics', { key: gateway.key })).status, 404)
  })
})

describe('deploy/Caddyfile', { skip: missing('caddy', 'version') }, () => {
  it('passes a gateway on with TLS under the name in GAZEWAY_SITE, and no metrics', async () => {
    const { place, gateway } = await startBehind()
    const port = await freePort()
    const [key, certificate] = [join(place.temporary, 'tls.key'), join(place.temporary, 'tls.pem')]
    makeCertificate(key, certificate)
    // A certificate of this machine in place of one of a public authority.
    const site = readFileSync('deploy/Caddyfile', 'utf8')
      .replace('gateway-a:8811 gateway-b:8811', new URL(gateway.url).host)
      .replace('admin off', 'admin off\n\tauto_https disable_redirects')
      .replace('reverse_proxy', `tls ${certificate} ${key}\n\treverse_proxy`)
    const file = join(place.temporary, 'Caddyfile')
    writeFileSync(file, site)
    const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', file], {
      stdio: 'ignore',
      env: { ...process.env, GAZEWAY_SITE: `https://${NAME}:${port}`, HOME: place.temporary },
    })
    started.push(caddy)
    await assertServes(port, gateway.key)
    for (const path of ['/metrics', '/%6detrics', '/x/../metrics'])
      assert.equal((await ask(port, path, { key: gateway.key })).status, 404, path)
  })
})
