import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hello.' }] }

describe('a provider that is reached by HTTPS', { skip: noCertificates() ?? false }, () => {
  let folder: string
  let upstream: double.UpstreamDouble
  let gateway: GatewayProcess
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-https-'))
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'own.pem')]
    makeCertificate(key, certificate)
    upstream = await double.startUpstream({ key: readFileSync(key, 'utf8'), cert: readFileSync(certificate, 'utf8') })
    gateway = await start({ NODE_EXTRA_CA_CERTS: certificate })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
    rmSync(folder, { recursive: true })
  })

  const start = (env: Record<string, string>) =>
    startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url], env })
  const ask = (at: GatewayProcess, body: object) =>
    fetch(`${at.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, ...body }),
    })

  it('has every byte of its replies passed on, whatever else arrives meanwhile', async () => {
    // Of other lengths than TLS records and read buffers have, and each unlike the others.
    const texts = Array.from({ length: 24 }, (_, i) => `${i}·`.repeat(1 + 41_777 * (i % 6)))
    upstream.on('/chat/completions', ...texts.map((text) => double.json(200, double.completion(text))))
    const replies = await Promise.all(texts.map(() => ask(gateway, {}).then((reply) => reply.json())))
    const got = replies.map((reply) => (reply as ReturnType<typeof double.completion>).choices[0]?.message.content)
    assert.deepEqual(got.toSorted(), texts.toSorted())
  })

  it('streams', async () => {
    const words = Array.from({ length: 400 }, (_, i) => `word ${i} `.repeat(1 + (i % 90)))
    upstream.on('/chat/completions', double.sse(double.chunks(words)))
    const streams = await Promise.all(
      Array.from({ length: 8 }, async () => (await ask(gateway, { stream: true })).text()),
    )
    for (const stream of streams) {
      const data = stream
        .split('\n\n')
        .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
      assert.equal(data.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), words.join(''))
      assert.ok(stream.endsWith('data: [DONE]\n\n'))
    }
  })

  it('may break off', async () => {
    upstream.on('/chat/completions', double.sse(double.chunks(['Hello.']), 'break'))
    assert.match(await (await ask(gateway, { stream: true })).text(), /"code":"upstream_bad_reply"/)
    upstream.on('/chat/completions', double.drops)
    assert.equal((await ask(gateway, {})).status, 502)
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal((await ask(gateway, {})).status, 200)
  })

  it('is not called when its certificate is untrusted', async () => {
    const wary = await start({})
    upstream.received.length = 0
    const reply = await ask(wary, {}).finally(() => wary.stop())
    const { error } = (await reply.json()) as { error: { code: string; message: string } }
    assert.deepEqual([reply.status, error.code], [502, 'upstream_unreachable'])
    assert.match(
      error.message,
      /\(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Its certificate is not trusted\. .*NODE_EXTRA_CA_CERTS/,
    )
    assert.equal(upstream.received.length, 0)
  })
})
