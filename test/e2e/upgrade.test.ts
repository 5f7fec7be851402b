import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, it } from 'node:test'
import { story } from '../../scripts/demo/story.ts'
import { until } from '../doubles/until.ts'
import { platformOf, startGatewayProcess } from './gateway-process.ts'
import { CLI, connect, newPlace } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-upgrade-'))
after(() => rmSync(folder, { recursive: true, force: true }))
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))

/** Installs a copy of the package. @returns its command, and what replaces all its files by those of another version */
function install(name: string): { cli: string; replace(): void } {
  const dist = join(folder, name, 'dist')
  cpSync(dirname(CLI), dist, { recursive: true })
  return {
    cli: join(dist, 'cli.js'),
    replace() {
      rmSync(dist, { recursive: true })
      mkdirSync(join(dist, 'chunks'), { recursive: true })
      writeFileSync(join(dist, 'cli.js'), "import './chunks/program-of-another-version.js'\n")
      writeFileSync(join(dist, 'chunks', 'program-of-another-version.js'), "throw new Error('Another version.')\n")
    },
  }
}

/** Reads the first part of a stream, which does not end, and leaves it. */
async function firstOf(reply: Response): Promise<string> {
  const reader = reply.body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

it('answers every tool after its package was replaced', async () => {
  const place = newPlace({ withoutStore: true })
  const { cli, replace } = install('stdio')
  const { client, call, stderr } = await connect(place, {
    cli,
    args: ['--upstream', 'sandbox', '--log-level', 'debug'],
  })
  const { tools } = await client.listTools()
  await until(() => /All code is kept/.test(stderr()), { what: stderr, seconds: 30 })
  replace()
  const steps = story(place.project, new Date())
  assert.deepEqual(steps.map(({ tool }) => tool).sort(), tools.map(({ name }) => name).sort())
  for (const { tool, input } of steps) {
    const { root, ...rest } = input
    const reply = await call(tool, root === undefined ? input : { ...rest, root: place.project })
    assert.ok(!reply.isError, `${tool}: ${reply.content[0]?.text}\n${stderr()}`)
  }
  assert.ok((await client.listResources()).resources.length > 0)
  assert.doesNotMatch(stderr(), /Cannot find|"level":"error"/)
})

it('tells its client without a path, and ends, when its code went before it was loaded', async () => {
  const { cli, replace } = install('early')
  const { client, call, stderr } = await connect(newPlace({ withoutStore: true }), {
    cli,
    args: ['--upstream', 'sandbox'],
  })
  const closed = new Promise<void>((done) => {
    client.onclose = done
  })
  replace()
  await assert.rejects(call('gateway_get_context'), (error: Error) => {
    assert.match(error.message, /files of this Gazeway were replaced or removed while it ran.*start it again/)
    assert.doesNotMatch(error.message, /gazeway-upgrade/)
    return true
  })
  await closed
  assert.match(stderr(), /^gazeway: The files of this Gazeway were replaced or removed/m)
})

it('answers every route after its package was replaced', async () => {
  const { cli, replace } = install('services')
  const gateway = await startGatewayProcess(newPlace({ withoutStore: true }), {
    cli,
    args: ['--platform', '--platform-port', '0', '--upstream', 'sandbox'],
  })
  const platform = await platformOf(gateway)
  replace()
  const authorization = `Bearer ${gateway.key}`
  async function send(url: string, body?: unknown): Promise<string> {
    const post = { method: 'POST', body: JSON.stringify(body) }
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }
    const reply = await fetch(url, { headers, ...(body === undefined ? {} : post) })
    const text = url.endsWith('/live') ? await firstOf(reply) : await reply.text()
    assert.ok(reply.status < 500, `${url}: ${reply.status} ${text}\n${gateway.stderr()}`)
    return text
  }

  const messages = [{ role: 'user', content: 'hi' }]
  for (const [path, body] of [
    ['/v1/models'],
    ['/v1/chat/completions', { messages }],
    ['/v1/chat/completions', { messages, stream: true }],
    ['/v1/responses', { input: 'hi' }],
    ['/v1/messages', { model: 'sandbox', max_tokens: 9, messages }],
    ['/v1/messages/count_tokens', { model: 'sandbox', messages }],
    ['/v1/embeddings', { input: 'hi' }],
    ['/health'],
    ['/metrics'],
    ['/docs/errors/not_found'],
  ] as [string, unknown?][])
    await send(gateway.url + path, body)

  const { paths } = JSON.parse(await send(`${platform}/openapi.json`)) as { paths: Record<string, object> }
  for (const [path, methods] of Object.entries(paths)) {
    const url = platform + path.replaceAll(/\{\w+\}/g, 'unknown')
    // An unfit body is refused by the code of its route.
    if ('get' in methods) await send(url)
    if ('post' in methods) await send(url, {})
  }
  for (const [path, body] of [
    ['/api/memory', { key: 'kept', value: 'it' }],
    ['/api/config', { 'gaze.min_score': 0.7 }],
    ['/api/tasks', { title: 'Do it' }],
    ['/api/wallet/metered/call', { model: 'llm-4-1-fast-reasoning', prompt: 'hi', max_tokens: 9 }],
    ['/docs/errors/not_found'],
  ] as [string, unknown?][])
    await send(platform + path, body)
  assert.doesNotMatch(gateway.stderr(), /Cannot find/)
  await gateway.stop()
})
