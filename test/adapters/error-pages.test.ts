import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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

  it('are pages with a title, a language and a style for browsers', async () => {
    for (const service of services) {
      const { reply, page } = await browsed(`${service}/docs/errors/conflict`)
      assert.equal(reply.status, 200)
      assert.ok(page.includes('<title>conflict · Gazeway</title>') && page.includes('<h2>What to do</h2>'), page)
    }
    const { page } = await browsed(`${running.url}/docs/errors/upstream_unreachable`)
    assert.match(page, /<code>gazeway doctor<\/code>.*<a href="\/docs\/guides\/routes\.md">/)
  })

  it('stand in for an error itself, with its status and headers, where a person reads it', async () => {
    for (const [service, path, status, code] of [
      [running.gatewayUrl, '/v1/models', 401, 'invalid_api_key'],
      [running.url, '/api/wallet', 401, 'invalid_api_key'],
      [running.url, '/assets/%3Cscript%3E', 404, 'not_found'],
      [running.gatewayUrl, '/docs/errors/none', 404, 'not_found'],
    ] as const) {
      const { reply, page } = await browsed(service + path)
      assert.equal(reply.status, status, path)
      assert.ok(page.includes(`<a href="/docs/errors/${code}">`) && !page.includes('<script>'), page)
      assert.ok(page.includes(`<code>${reply.headers.get('x-request-id')}</code>`), page)
      assert.equal(reply.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
    }
  })

  it('are for people alone: who asks for JSON or anything, or sends something, gets JSON', async () => {
    for (const init of [
      { headers: { accept: '*/*' } },
      { headers: { accept: 'application/json, text/html' } },
      { headers: { accept: 'text/html;q=0.5, application/json' } },
      { headers: { accept: 'text/html' }, method: 'POST' },
    ]) {
      const reply = await fetch(`${running.url}/api/wallet`, init)
      assert.equal(reply.headers.get('content-type'), 'application/json', JSON.stringify(init))
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

/** Opens an address as Chromium does, and checks what every page has. */
async function browsed(address: string) {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'
  const reply = await fetch(address, { headers: { accept } })
  const page = await reply.text()
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(reply.headers.get('vary') ?? '', /accept/)
  const digest = createHash('sha256')
    .update(/<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? '')
    .digest('base64')
  assert.ok(reply.headers.get('content-security-policy')?.includes(`style-src 'sha256-${digest}'`))
  assert.ok(page.startsWith('<!doctype html>\n<html lang="en">'), page)
  return { reply, page }
}
