import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { GUIDANCE } from '../../adapters/web/error-guidance.ts'
import { CODES } from '../../src/errors.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

describe('the pages of errors', () => {
  let running: RunningPlatform
  let provider: Awaited<ReturnType<typeof double.startUpstream>>
  let services: string[]
  before(async () => {
    provider = await double.startUpstream()
    running = await startPlatform(provider.url)
    services = [running.gatewayUrl, running.url]
  })
  after(async () => {
    await running.close()
    await provider.close()
  })

  it('are served on both ports for every code, without a key', async () => {
    for (const service of services)
      for (const code of Object.keys(CODES) as (keyof typeof CODES)[]) {
        const reply = await fetch(`${service}/docs/errors/${code}`)
        const page = await reply.text()
        assert.equal(reply.status, 200, code)
        assert.equal(reply.headers.get('content-type'), 'text/markdown; charset=utf-8')
        assert.ok(page.startsWith(`# ${code} (HTTP ${CODES[code].status})`), page)
        assert.ok(page.includes(GUIDANCE[code].happened) && page.includes(GUIDANCE[code].todo), page)
      }
  })

  it('are where an error says', async () => {
    for (const [service, path] of [
      [running.gatewayUrl, '/v1/models'],
      [running.url, '/api/wallet'],
    ] as const) {
      const { error } = (await (await fetch(service + path)).json()) as { error: { code: string; doc_url: string } }
      assert.equal(error.code, 'invalid_api_key')
      const page = await fetch(new URL(error.doc_url, service))
      assert.match(await page.text(), /^# invalid_api_key /)
    }
  })

  it('are named in a header where errors have the shape of Anthropic', async () => {
    const reply = await fetch(`${running.gatewayUrl}/v1/messages`, { method: 'POST', body: '{}' })
    assert.equal(reply.headers.get('link'), '</docs/errors/invalid_api_key>; rel="help"')
    assert.deepEqual(Object.keys((await reply.json()) as object), ['type', 'error', 'request_id'])
  })

  it('are 404 for a code that does not exist', async () => {
    for (const service of services)
      for (const code of ['no_such_code', 'constructor', '..%2f..%2fhealth'])
        assert.equal((await fetch(`${service}/docs/errors/${code}`)).status, 404, code)
  })

  it('name documents that exist', () => {
    const texts = Object.values(GUIDANCE).flatMap(({ happened, todo }) => [happened, todo])
    const named = texts.flatMap((text) => text.match(/docs\/[\w/-]+\.md/g) ?? [])
    assert.ok(named.length >= 4, String(named))
    for (const file of named) assert.ok(existsSync(file), file)
  })
})
