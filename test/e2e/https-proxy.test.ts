import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'
import { type ForwardProxy, startForwardProxy } from '../doubles/forward-proxy.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { CLI, newPlace } from './server.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hello.' }] }

describe('a provider that is reached by HTTPS through a proxy', { skip: noCertificates() ?? false }, () => {
  let folder: string
  let env: Record<string, string>
  let upstream: double.UpstreamDouble
  let named: string
  let proxy: ForwardProxy
  let gateway: GatewayProcess
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-proxy-'))
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'own.pem')]
    makeCertificate(key, certificate)
    upstream = await double.startUpstream({ key: readFileSync(key, 'utf8'), cert: readFileSync(certificate, 'utf8') })
    named = upstream.url.replace('127.0.0.1', 'provider.test')
    proxy = await startForwardProxy({ credentials: 'gateway:hunter2hunter2', tlsPorts: [Number(new URL(named).port)] })
    env = { NODE_EXTRA_CA_CERTS: certificate, HTTPS_PROXY: proxy.url }
    gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', named], env })
  })
  after(async () => {
    await gateway?.stop()
    await proxy?.close()
    await upstream?.close()
    rmSync(folder, { recursive: true })
  })

  const ask = (at: GatewayProcess, body: object, signal: AbortSignal | null = null) =>
    fetch(`${at.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, ...body }),
      signal,
    })

  it('is called within a tunnel, which is kept for the next calls', async () => {
    const texts = Array.from({ length: 12 }, (_, i) => `${i}·`.repeat(1 + 41_777 * (i % 6)))
    upstream.on('/chat/completions', ...texts.map((text) => double.json(200, double.completion(text))))
    for (const text of texts) {
      const reply = (await (await ask(gateway, {})).json()) as ReturnType<typeof double.completion>
      assert.equal(reply.choices[0]?.message.content, text)
    }
    const { host } = new URL(named)
    for (const asked of proxy.asked) assert.deepEqual(asked, { method: 'CONNECT', target: host, refused: null })
    assert.ok(proxy.asked.length >= 1 && proxy.asked.length < texts.length / 2, `${proxy.asked.length} tunnels`)
    assert.equal(upstream.received[0]?.headers['proxy-authorization'], undefined)
  })

  it('streams, and is aborted when the client leaves', async () => {
    const words = Array.from({ length: 400 }, (_, i) => `word ${i} `.repeat(1 + (i % 90)))
    upstream.on('/chat/completions', double.sse(double.chunks(words)))
    const stream = await (await ask(gateway, { stream: true })).text()
    assert.ok(stream.endsWith('data: [DONE]\n\n'))
    upstream.received.length = 0
    upstream.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const leaving = new AbortController()
    const reply = await ask(gateway, { stream: true }, leaving.signal)
    await reply.body?.getReader().read()
    leaving.abort()
    await upstream.received[0]?.aborted
  })

  it('is not called where the proxy refuses the tunnel or its credentials, of which nothing is shown', async () => {
    const wrong = proxy.url.replace('hunter2hunter2', 'hunter3hunter3')
    for (const [https, to, status] of [
      [wrong, named, 407],
      [proxy.url, named.replace(/:\d+/, ':8443'), 403],
    ] as const) {
      const refused = await startGatewayProcess(newPlace(), {
        args: ['--upstream', to],
        env: { ...env, HTTPS_PROXY: https },
      })
      upstream.received.length = 0
      const reply = await ask(refused, {}).finally(() => refused.stop())
      const { error } = (await reply.json()) as { error: { code: string; message: string } }
      assert.deepEqual([reply.status, error.code], [502, 'upstream_unreachable'])
      assert.match(
        error.message,
        new RegExp(`^The proxy ${proxy.origin} \\(HTTPS_PROXY\\) refused the connection \\(${status}\\)\\.`),
      )
      assert.doesNotMatch(refused.stderr() + error.message, /hunter/)
      assert.equal(upstream.received.length, 0)
    }
  })

  it('is found by doctor, which names the proxy without its credentials', async () => {
    upstream.on('/models', double.json(200, { object: 'list', data: [{ id: 'llm-3-fast', object: 'model' }] }))
    const place = newPlace()
    const child = spawn(process.execPath, [CLI, 'doctor', '--upstream', named], {
      cwd: place.project,
      env: { GAZEWAY_UPSTREAM_API_KEY: 'upstream-secret-key', ...place.env, ...env },
    })
    const said = (await Promise.all([text(child.stdout), text(child.stderr)])).join('')
    assert.ok(said.includes(`answers at ${named} through the proxy ${proxy.origin} (HTTPS_PROXY)`), said)
    assert.doesNotMatch(said, /hunter/)
  })
})
