import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { ListedPrice } from '../../src/inference/status/price-list.ts'
import { json, startUpstream } from '../doubles/upstream.ts'
import { runHere } from './in-process.ts'
import { newPlace } from './server.ts'

interface Listed {
  other_models: number
  items: ListedPrice[]
}

describe('gazeway prices', () => {
  it('lists what is in force and from where, as JSON and as a table', async () => {
    const place = newPlace()
    mkdirSync(place.data)
    const upstreams = { own: { provider: 'http://127.0.0.1:9/v1', aliases: { mine: 'invented' } } }
    const models = { 'mistral-medium-latest': { input: 9, output: 10, cached_input: 1 }, 'my-model': own }
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ pricing: { models }, upstreams }))
    const { code, stdout } = await runHere(place, ['prices', '--json', '--upstream', 'mistral'])
    assert.equal(code, 0)
    const { other_models, items } = JSON.parse(stdout) as Listed
    assert.equal(other_models, 3)
    const of = (id: string) => items.find(({ model }) => model === id) ?? assert.fail(`${id} is listed`)
    assert.deepEqual(of('mistral-medium-latest'), {
      upstream: 'mistral',
      model: 'mistral-medium-latest',
      upstream_model: 'mistral-medium-latest',
      when: null,
      input: 9,
      output: 10,
      cached_input: 1,
      cache_write: null,
      cache_write_1h: null,
      audio_input: null,
      cached_audio_input: null,
      audio_output: null,
      image_input: null,
      cached_image_input: null,
      image_output: null,
      video_input: null,
      cached_video_input: null,
      video_output: null,
      from: 'configuration',
      source: 'pricing.models.mistral-medium-latest',
      date: null,
      unknown: false,
    })
    assert.equal(of('my-model').from, 'configuration')
    assert.deepEqual([of('llm-4.20-0309-reasoning').from, of('llm-4.20-0309-reasoning').input], ['fixed', 3])
    assert.deepEqual([of('mistral-small-latest').from, of('mistral-small-latest').date], ['catalogue', '2026-09-22'])
    assert.deepEqual([of('mine').from, of('mine').input, of('mine').unknown], ['flat', 3, true])

    const others = { fast: { provider: 'groq', api_keys: ['a-key-of-groq'] } }
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstreams: others }))
    const table = await runHere(place, ['prices', '--upstream', 'xai'])
    assert.match(table.stdout, /^fast +openai\/gpt-oss-20b +- +0\.075 +0\.0375 +- +- +0\.3 +catalogue, 2026-11-24: /m)
    assert.match(table.stdout, /^xai +grok-4\.3 +llm-3-fast +1\.25 +0\.2 +- +- +2\.5 +catalogue, 2026-07: https:/m)
    assert.match(table.stdout, /^xai +grok-4\.3 \(prompt > 200000\) +llm-3-fast +2\.5 +0\.4 +- +- +5 +catalogue, /m)
    assert.match(table.stdout, /^xai +grok-4\.3 +llm-4-1-fast-reasoning +3 +.* flat price$/m)
  })
})

describe('gazeway prices update', () => {
  it('stores a newer catalogue with its origin, which takes precedence over presets and over the shipped one', async (t) => {
    const place = newPlace()
    const provider = await startUpstream()
    t.after(() => provider.close())
    provider.on('/data.json', json(200, genaiPrices({ input_mtok: 1.5, output_mtok: 12 })))
    const stored = await runHere(place, ['prices', 'update', '--from', `${provider.url}/data.json`])
    assert.equal(stored.code, 0, stored.stderr)
    assert.match(
      stored.stdout,
      /^Stored the prices of 20\d\d-\d\d-\d\d in .*prices\.json: 0 models are new, 1 changed, /,
    )
    assert.match(stored.stdout, /^SHA-256 [0-9a-f]{64} of http:/m)
    const { stdout, stderr } = await runHere(place, ['prices', '--json', '--upstream', 'openai'])
    const { items, catalogues } = JSON.parse(stdout) as Listed & { catalogues: { name: string; sha256?: string }[] }
    const gpt = items.find(({ model }) => model === 'gpt-5') ?? assert.fail('gpt-5 is listed')
    assert.deepEqual([gpt.input, gpt.output, gpt.source], [1.5, 12, `${provider.url}/data.json`], stderr)
    assert.deepEqual(
      catalogues.map(({ name, sha256 }) => [name, sha256?.length]),
      [
        ['downloaded', 64],
        ['shipped', undefined],
      ],
    )
  })

  it('refuses what is broken, of another shape, older or falls too far, and says what is wrong', async () => {
    const place = newPlace()
    const update = async (content: unknown, ...more: string[]) => {
      const file = join(place.home, 'prices.json')
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
      const { code, stderr } = await runHere(place, ['prices', 'update', '--from', file, ...more])
      return `${code} ${stderr}`
    }
    assert.match(await update('{"date":'), /^2 gazeway: --from: not stored: it is no JSON /)
    assert.match(
      await update({ prices: 3 }),
      /^2 .*not stored: date: .*It must be data of genai-prices, or a catalogue/,
    )
    assert.match(await update([{ id: 'openai' }]), /^2 .*0\.models: .*It is no data of genai-prices/)
    assert.match(await update([]), /^2 .*it has no prices of a known provider/)
    const old = {
      date: '2025-01-01',
      source: 'me',
      providers: { openai: { 'gpt-5': { input: 1_250_000, output: 1 } } },
    }
    assert.match(await update(old), /^2 .*it is of 2025-01-01, and the prices in use are of 2026-/)
    const fallen = genaiPrices({ input_mtok: 0.1, output_mtok: 0 })
    assert.match(
      await update(fallen),
      /^2 .*fall by more than 90 % or to 0: openai\/gpt-5 input from 1\.25 to 0\.1 USD\. Check them, then add --force/,
    )
    assert.ok(!existsSync(join(place.data, 'prices.json')), 'nothing was stored')
    assert.match(await update(fallen, '--force'), /^0 /)
    assert.match(readFileSync(join(place.data, 'prices.json'), 'utf8'), /"sha256":"[0-9a-f]{64}"/)
    const missing = await runHere(place, ['prices', 'update', '--from', join(place.home, 'none.json')])
    assert.match(`${missing.code} ${missing.stderr}`, /^2 gazeway: --from: .*none\.json cannot be read \(ENOENT\)/)

    writeFileSync(join(place.data, 'prices.json'), '{}')
    const broken = await runHere(place, ['prices'])
    assert.match(
      `${broken.code} ${broken.stderr}`,
      /^1 .*prices\.json: .*Run gazeway prices update again, or delete the file/,
    )
    assert.match(await update(genaiPrices({ input_mtok: 1.25, output_mtok: 10 })), /^0 /, 'a broken one is replaced')
  })
})

/** Data of genai-prices with prices of GPT-5. */
const genaiPrices = (prices: object) => [{ id: 'openai', models: [{ id: 'gpt-5', prices }] }]

const own = { input: 1, output: 2 }
