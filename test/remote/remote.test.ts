import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { callTool } from '../../adapters/stdio/call-tool.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { freePort } from '../doubles/free-port.ts'
import { putEmptyStore } from '../store/empty-store.ts'

/** Longest reply of a remote that is read, in bytes. */
const MAX_REPLY = 16 * 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, ' ')

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

/** A gateway on a folder of its own that uses the memories of another. */
async function clientOf(folder: string, url: string, key: string, settings: object = {}): Promise<Gateway> {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ remote: settings }))
  const loaded = await loadConfig({
    env: { GAZEWAY_REMOTE_KEY: key },
    flags: { data: folder, upstream: 'sandbox', remote: url },
  })
  await putEmptyStore(folder)
  return createGateway(loaded, createLog({ level: 'silent', secrets: () => loaded.secrets }))
}

describe('tools of a remote Gazeway', () => {
  let remote: RunningPlatform
  let client: Gateway
  let folder: string
  let resume: (() => Promise<void>) | undefined

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-remote-'))
    remote = await startPlatform('sandbox', { withHttp: false, platformPort: await freePort() })
    client = await clientOf(folder, remote.url, remote.admin, { projects: { [folder]: 'shop' } })
  })
  after(async () => {
    await client.close()
    await remote.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function call(name: string, args: object, of = client): Promise<Json> {
    const context = {
      surface: 'stdio' as const,
      callerId: null,
      roots: async () => [folder],
      projectRoot: async () => folder,
    }
    const { isError, content, structuredContent } = await callTool(
      name,
      args,
      async () => of,
      context,
      (error) => assert.fail(String(error)),
    )
    const [text] = content
    return { isError, text: text?.type === 'text' ? text.text : '', ...(structuredContent as Json) }
  }

  it('store, find, recall and forget there, under the name that it has for the project', async () => {
    const fact = { key: 'deploy/staging', value: 'uses the eu-west cluster' }
    assert.equal((await call('gateway_memory_store', fact)).memory.project, 'shop')
    assert.equal((await remote.gateway.memory.recall({ ...fact, namespace: 'default', project: 'shop' })).found, true)
    const { results } = await call('gateway_memory_search', { query: 'which cluster does staging use' })
    assert.deepEqual(
      results.map(({ memory, weak }: Json) => [memory.key, weak]),
      [['deploy/staging', false]],
    )
    const { memory } = await call('gateway_memory_recall', { key: fact.key })
    assert.deepEqual([memory.value, memory.version], [fact.value, 1])
    assert.deepEqual(
      (await client.memory.newest({ project: 'shop', limit: 5 })).map(({ key }) => key),
      [fact.key],
    )
    await call('gateway_memory_store', { key: 'gone', value: 'x' })
    assert.equal((await call('gateway_memory_store', { key: 'gone', forget: true, if_version: 1 })).forgotten, true)
    assert.equal((await call('gateway_memory_recall', { key: 'gone' })).found, false)
    const conflict = await call('gateway_memory_store', { ...fact, if_version: 7 })
    assert.match(conflict.text, /^version_conflict: /)
  })

  it('find in several projects what answers before what is weak, of which there are few', async () => {
    const fact = (key: string, value: string, project: string) => ({ key, value, project, namespace: 'roots' })
    for (const project of ['zoo', 'blog']) {
      for (const n of ['one', 'two', 'three'])
        await call('gateway_memory_store', fact(n, `The walrus has a ${n}.`, project))
    }
    await call('gateway_memory_store', fact('answer', 'The walrus of the harbour sings on Fridays.', 'blog'))
    const query = { query: 'walrus harbour sings on which day?', namespace: 'roots', limit: 10, weak: 3 }
    const { results } = await client.memory.search({ ...query, project: ['zoo', 'blog'] })
    assert.deepEqual(
      results.map(({ weak }) => weak),
      [false, true, true],
    )
  })

  it('show the calls that the remote has recorded', async () => {
    await remote.gateway.upstream.chat(
      { messages: [{ role: 'user', content: 'Hello' }] },
      { surface: 'stdio', callerId: null },
    )
    assert.equal((await call('gateway_upstream_api_history', {})).total, 1)
    assert.equal((await call('gateway_upstream_api_stats', {})).totals.calls, 1)
  })

  it('read the last copy while it is away, say so, and store nothing', async () => {
    await client.remote?.close()
    const copies = join(folder, 'remote')
    const [copy = ''] = readdirSync(copies)
    assert.equal(statSync(join(copies, copy)).mode & 0o777, 0o600)

    resume = await remote.pause()
    const found = await call('gateway_memory_search', { query: 'which cluster does staging use' })
    assert.equal(found.results[0].memory.key, 'deploy/staging')
    for (const said of [found.notice, found.text]) assert.match(said, /cannot be reached.* This is from the copy of 20/)
    assert.equal((await call('gateway_memory_recall', { key: 'deploy/staging' })).memory.version, 1)
    const { notes, memories } = await call('gateway_get_context', {})
    assert.match(notes.join('\n'), /memories: The remote Gazeway .* copy/)
    assert.equal(memories[0].key, 'deploy/staging')
    assert.match(
      (await call('gateway_memory_store', { key: 'a', value: 'b' })).text,
      /^upstream_unreachable: .*cannot be reached/,
    )
    assert.match((await call('gateway_upstream_api_history', {})).text, /^upstream_unreachable: /)

    await resume()
    await call('gateway_memory_store', { key: 'a', value: 'b' })
    assert.doesNotMatch((await call('gateway_memory_search', { query: 'staging cluster' })).notice, /copy/)
  })

  it('say what is wrong with a key, a slow remote, another version and a foreign server', async () => {
    let sent = 0
    const answers: Record<string, (reply: import('node:http').ServerResponse) => void> = {
      slow: () => {},
      older: (reply) =>
        reply.writeHead(400).end('{"error":{"code":"validation_failed","message":"unrecognized keys: weak"}}'),
      foreign: (reply) => reply.writeHead(200).end('<html>'),
      failing: (reply) => reply.writeHead(503).end(),
      endless: (reply) => {
        reply.writeHead(200)
        const go = () => {
          while (reply.write(CHUNK)) sent += CHUNK.length
        }
        reply.on('drain', go)
        go()
      },
    }
    const server = createServer((request, reply) => answers[request.url?.split('/')[1] ?? '']?.(reply))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as import('node:net').AddressInfo
    const expected: [url: string, code: string][] = [
      [remote.url, 'invalid_api_key: .*GAZEWAY_REMOTE_KEY'],
      [`http://127.0.0.1:${port}/slow`, 'upstream_timeout: .*remote.timeout_ms'],
      [`http://127.0.0.1:${port}/older`, 'upstream_bad_reply: .*version'],
      [`http://127.0.0.1:${port}/foreign`, 'upstream_bad_reply: .*version'],
      [`http://127.0.0.1:${port}/failing`, 'upstream_error: .*503'],
      [`http://127.0.0.1:${port}/endless`, 'upstream_bad_reply: .*version'],
    ]
    for (const [url, error] of expected) {
      const own = mkdtempSync(join(tmpdir(), 'gazeway-remote-'))
      const timeout_ms = url.endsWith('/slow') ? 300 : 20_000
      const other = await clientOf(own, url, 'gzw_wrong', { timeout_ms })
      assert.match((await call('gateway_memory_search', { query: 'staging' }, other)).text, new RegExp(`^${error}`))
      await other.close()
      rmSync(own, { recursive: true, force: true })
    }
    assert.ok(sent < 4 * MAX_REPLY, `an endless reply is left: ${sent} bytes`)
    server.closeAllConnections()
    server.close()
  })

  it('send no key over http to another machine', async () => {
    await assert.rejects(
      loadConfig({ env: {}, flags: { data: folder, remote: 'http://gazeway.example.org' } }),
      /https/,
    )
  })
})
