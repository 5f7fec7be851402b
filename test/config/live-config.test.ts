import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { configFile, type LoadedConfig, loadConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { fileHome } from '../../src/config/home.ts'
import { openLiveConfig } from '../../src/config/live-config.ts'
import { overridesInForce } from '../../src/config/overrides.ts'
import { newFolder } from './folder.ts'

async function openFolder(home = newFolder(), env: Environment = {}) {
  const file = configFile(home)
  const faults: unknown[] = []
  const live = await openLiveConfig({
    loaded: await loadConfig({ env: { GAZEWAY_HOME: home, ...env }, flags: {} }),
    home: fileHome(file),
    onFault: (error) => void faults.push(error),
  })
  return { home, file, live, faults }
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

describe('the live configuration', () => {
  it('writes config.json for its owner alone, takes the change into force and tells who listens', async () => {
    const { home, file, live } = await openFolder(join(newFolder(), 'new'))
    const changes: [LoadedConfig, LoadedConfig][] = []
    live.onChange((now, before) => void changes.push([now, before]))
    const changed = await live.set({ 'gaze.min_score': 0.5, 'upstream.api_key': 'xai-secret' })
    assert.deepEqual(changed, ['upstream.api_key', 'gaze.min_score'])
    assert.equal(live.current().config.gaze.min_score, 0.5)
    assert.equal(live.current().sources['gaze.min_score'], 'file')
    assert.deepEqual(live.current().secrets, ['xai-secret'])
    assert.deepEqual(
      changes.map(([now, before]) => [now.config.gaze.min_score, before.config.gaze.min_score]),
      [[0.5, 0.6]],
    )
    assert.deepEqual(read(file), { gaze: { min_score: 0.5 }, upstream: { api_key: 'xai-secret' } })
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(home).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(home).sort(), ['config.json', 'config.json-lock'])
  })

  it('keeps what waits for a restart as it was, and says that it waits until it is changed back', async () => {
    const { live } = await openFolder()
    await live.set({ 'http.port': 5, 'mpp.realm': 'mine', 'mpp.amount_usd': 0.5 })
    assert.equal(live.current().config.http.port, 8811)
    assert.equal(live.stored().config.http.port, 5)
    assert.equal(live.current().config.mpp.amount_usd, 0.5, 'a leaf that its section does not hold back')
    assert.deepEqual(live.waiting(), ['http.port', 'mpp.realm'])
    await live.set({ 'http.port': null, 'mpp.realm': 'gazeway' })
    assert.deepEqual(live.waiting(), [])
  })

  it('keeps the environment in force over what it writes', async () => {
    const { file, live } = await openFolder(newFolder(), { GAZEWAY_UPSTREAM: 'ollama' })
    assert.deepEqual(await live.set({ 'upstream.provider': 'openai' }), ['upstream.provider'])
    assert.equal(live.current().config.upstream.provider, 'ollama')
    assert.equal(live.current().sources['upstream.provider'], 'environment')
    assert.equal(read(file).upstream.provider, 'openai')
  })

  it('sees what others wrote, and writes beside it', async () => {
    const home = newFolder()
    const [first, second] = [await openFolder(home), await openFolder(home)]
    await first.live.set({ 'gaze.min_score': 0.5 })
    assert.equal(second.live.current().config.gaze.min_score, 0.6)
    await second.live.refresh()
    assert.equal(second.live.current().config.gaze.min_score, 0.5)
    await second.live.set({ 'gaze.records_needed': 5 })
    assert.deepEqual(read(first.file), { gaze: { min_score: 0.5, records_needed: 5 } })
  })

  it('loses none of a hundred changes made at once', async () => {
    const { file, live } = await openFolder()
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => live.set({ [`pricing.models.m-${n}`]: { input: n, output: n } })),
    )
    assert.equal(Object.keys(read(file).pricing.models).length, 100)
  })

  it('writes nothing when one change of several is refused, and works on', async () => {
    const { home, live } = await openFolder()
    await assert.rejects(live.set({ 'gaze.min_score': 0.5, 'http.prot': 5 }), {
      code: 'unknown_config_key',
      status: 400,
    })
    await assert.rejects(live.preview({ 'gaze.min_score': 2 }), { code: 'validation_failed' })
    assert.deepEqual(readdirSync(home), ['config.json-lock'])
    assert.equal((await live.preview({ 'gaze.min_score': 0.5 })).config.gaze.min_score, 0.5)
    assert.deepEqual(readdirSync(home), ['config.json-lock'])
    await live.set({ 'gaze.min_score': 0.4 })
    assert.equal(live.current().config.gaze.min_score, 0.4)
  })

  it('tells once of a file that a person broke, keeps what was in force, and never overwrites it', async () => {
    const { home, file, live, faults } = await openFolder()
    await live.set({ 'gaze.min_score': 0.5 })
    const text = '{"gaze": {"min_score": 7}}'
    writeFileSync(file, text)
    for (let looks = 0; looks < 3; looks++) await live.refresh()
    assert.equal(faults.length, 1)
    assert.match(String(faults[0]), /config\.json: gaze\.min_score: too large; must be a number from 0 to 1/)
    await assert.rejects(live.set({ 'gaze.min_score': 0.4 }), { code: 'conflict', status: 409 })
    assert.equal(live.current().config.gaze.min_score, 0.5)
    assert.equal(readFileSync(file, 'utf8'), text)
    assert.deepEqual(readdirSync(home).sort(), ['config.json', 'config.json-lock'])

    writeFileSync(file, '{"gaze": {"min_score": 0.7}}')
    await live.refresh()
    assert.equal(live.current().config.gaze.min_score, 0.7)
  })

  it('takes a file that is moved away for lost, not for the wish for all defaults', async () => {
    const { home, file, live, faults } = await openFolder()
    await live.set({ 'gaze.min_score': 0.5 })
    renameSync(file, join(home, 'away'))
    for (let looks = 0; looks < 3; looks++) await live.refresh()
    assert.equal(faults.length, 1)
    assert.match(String(faults[0]), /config\.json: the file has disappeared; its last content stays in force/)
    assert.equal(live.current().config.gaze.min_score, 0.5)
    await assert.rejects(live.set({ 'pricing.margin_usd': 0.5 }), { code: 'conflict', status: 409 })
    assert.deepEqual(readdirSync(home).sort(), ['away', 'config.json-lock'])

    renameSync(join(home, 'away'), file)
    await live.refresh()
    await live.set({ 'pricing.margin_usd': 0.5 })
    assert.deepEqual(read(file), { gaze: { min_score: 0.5 }, pricing: { margin_usd: 0.5 } })

    writeFileSync(file, '{}')
    await live.refresh()
    assert.notEqual(live.current().config.gaze.min_score, 0.5)
  })

  it('never gives one provider the key of another', async () => {
    const { file, live } = await openFolder()
    await live.set({
      'upstream.provider': 'openai',
      'upstream.api_key': 'sk-openai',
      'upstream.headers.x-team': 'blue',
    })
    await live.set({ 'upstream.provider': 'http://elsewhere.example/v1', 'upstream.api_key': '***' })
    assert.deepEqual(read(file).upstream, { provider: 'http://elsewhere.example/v1' })
    await live.set({ upstream: { provider: 'openai', api_key: 'sk-openai' } })
    assert.equal(live.current().config.upstream.api_key, 'sk-openai')
    for (const headers of [
      { 'upstream.headers': { 'x-team': '***', 'x-new': 'new' } },
      { 'upstream.headers.x-new': 'new' },
      { 'upstream.headers.x-team.more': 'new' },
    ]) {
      await live.set({ upstream: { provider: 'openai', headers: { 'x-team': 'blue' } } })
      const { headers: kept = {} } = (
        await live.preview({ 'upstream.provider': 'http://elsewhere.example/v1', ...headers })
      ).config.upstream
      assert.deepEqual([Object.keys(kept).length, Object.values(kept)], [1, ['new']])
    }
  })

  it('sends keys from the environment only to the addresses of the start, after any change', async () => {
    const { home, file, live } = await openFolder(newFolder(), {
      GAZEWAY_UPSTREAM_API_KEY: 'sk-of-the-environment',
      GAZEWAY_AGENT_GATEWAY_URL: 'http://agent.example',
      GAZEWAY_AGENT_GATEWAY_KEY: 'key-of-the-agent',
      OPENAI_API_KEY: 'sk-for-openai',
    })
    const keys = () => {
      const { upstream, agent_gateway } = live.current().config
      return [upstream.api_key, agent_gateway.key]
    }
    const other = await openFolder(home)
    await other.live.set({
      'upstream.provider': 'http://elsewhere.example/v1',
      'agent_gateway.url': 'http://elsewhere.example',
    })
    await live.refresh()
    assert.deepEqual(keys(), [null, 'key-of-the-agent'], 'the address in the environment is over the stored one')
    assert.deepEqual(live.current().leftOut, ['upstream.api_key'])
    assert.deepEqual(Object.keys(overridesInForce(live.current(), 'environment')).sort(), [
      'GAZEWAY_AGENT_GATEWAY_KEY',
      'GAZEWAY_AGENT_GATEWAY_URL',
    ])
    await other.live.set({ 'upstream.api_key': 'their-own' })
    await live.refresh()
    assert.equal(keys()[0], 'their-own')
    await live.set({ 'upstream.provider': 'openai' })
    assert.equal(keys()[0], 'sk-for-openai', 'which is for this one')
    assert.equal(overridesInForce(live.current(), 'environment').OPENAI_API_KEY?.path, 'upstream.api_key')
    await live.set({ 'upstream.provider': null })
    assert.equal(keys()[0], 'sk-of-the-environment')
    assert.deepEqual(live.current().leftOut, [])
    assert.doesNotMatch(readFileSync(file, 'utf8'), /of-the-environment/)
  })

  it('makes a followed service again when its own settings change, and leaves earlier ones alone', async () => {
    const { live } = await openFolder()
    const followed = live.hotReload(
      ({ gaze }) => gaze.min_score,
      (score) => ({ score: () => score }),
    )
    const { always } = followed
    const first = followed.now()
    await live.set({ 'pricing.margin_usd': 1 })
    assert.equal(followed.now(), first)
    await live.set({ 'gaze.min_score': 0.5 })
    assert.deepEqual([first.score(), followed.now().score(), always.score()], [0.6, 0.5, 0.5])
  })
})
