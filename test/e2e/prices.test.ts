import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { ListedPrice } from '../../src/inference/status/price-list.ts'
import { newPlace, run } from './server.ts'

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
    const { code, stdout } = await run(place, ['prices', '--json', '--upstream', 'mistral'])
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
    const table = await run(place, ['prices', '--upstream', 'xai'])
    assert.match(table.stdout, /^fast +openai\/gpt-oss-20b +- +0\.075 +0\.0375 +- +- +0\.3 +catalogue, 2026-11-24: /m)
    assert.match(table.stdout, /^xai +grok-4\.3 +llm-3-fast +1\.25 +0\.2 +- +- +2\.5 +catalogue, 2026-07: https:/m)
    assert.match(table.stdout, /^xai +grok-4\.3 \(prompt > 200000\) +llm-3-fast +2\.5 +0\.4 +- +- +5 +catalogue, /m)
    assert.match(table.stdout, /^xai +grok-4\.3 +llm-4-1-fast-reasoning +3 +.* flat price$/m)
  })
})

const own = { input: 1, output: 2 }
