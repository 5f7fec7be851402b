import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type RunningPlatform, startPlatform } from './platform.ts'

describe('the documents of the service', () => {
  let running: RunningPlatform
  before(async () => {
    running = await startPlatform('sandbox')
  })
  after(() => running.close())

  it('are listed for agents on both ports, and each is served as Markdown without a key', async () => {
    for (const service of [running.url, running.gatewayUrl]) {
      const list = await (await fetch(`${service}/llms.txt`)).text()
      assert.match(list, /^# Gazeway\n\n> .*[\s\S]*\n## Guides\n\n[\s\S]*\n## Reference\n/)
      const links = [...list.matchAll(/\]\((\/docs\/[\w/-]+\.md)\)/g)].map(([, path = '']) => path)
      assert.ok(links.length > 40 && links.includes('/docs/reference/http.md'), String(links))
      for (const path of links) {
        const reply = await fetch(service + path)
        assert.equal(reply.headers.get('content-type'), 'text/markdown; charset=utf-8')
        assert.equal(await reply.text(), readFileSync(path.slice(1), 'utf8'), path)
      }
    }
  })

  it('name the description of the API, which is there', async () => {
    const list = await (await fetch(`${running.url}/llms.txt`)).text()
    assert.ok(list.includes('(/openapi.json)') && list.includes('(/docs)'))
  })

  it('are text in browsers, which would save Markdown as a file', async () => {
    const reply = await fetch(`${running.url}/docs/reference/http.md`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8')
  })

  it('are nothing else than the documents', async () => {
    for (const path of ['none.md', '..%2fREADME.md', '../README.md', 'constructor.md'])
      assert.notEqual((await fetch(`${running.url}/docs/${path}`)).status, 200, path)
  })
})
