import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace, type Place, run } from './server.ts'

const IMPORTED = 40

/** A place with memories and an embedding model. */
async function placeWithMemories(): Promise<Place> {
  const place = newPlace()
  mkdirSync(place.data, { recursive: true })
  writeFileSync(
    join(place.data, 'config.json'),
    JSON.stringify({ memory: { embeddings: { model: 'words', timeout_ms: 10_000 } } }),
  )
  const file = join(place.home, 'memories.jsonl')
  const lines = Array.from({ length: IMPORTED }, (_, i) =>
    JSON.stringify({ key: `parcel-${i}`, value: `is in van ${i}` }),
  )
  writeFileSync(file, lines.join('\n'))
  const { code, stderr } = await run(place, ['memory', 'import', file])
  assert.equal(code, 0, stderr)
  return place
}

const embeddingsIn = (stdout: string): string =>
  stdout.split('\n').find((line) => /^\w+ +embeddings /.test(line)) ?? assert.fail(stdout)

describe('gazeway doctor on a store of memories', () => {
  it('says how many of them have a vector, before and after a server made them', async () => {
    const place = await placeWithMemories()
    const doctor = async () => embeddingsIn((await run(place, ['doctor', '--upstream', 'sandbox'])).stdout)
    assert.match(
      await doctor(),
      /^ok +embeddings +0 of 40 memories have a vector of default\/words; a running gateway embeds the others$/,
    )
    const server = await connect(place, { args: ['--upstream', 'sandbox'] })
    await server.call('gateway_memory_store', { key: 'depot', value: 'is in Gdansk' })
    let line = ''
    await until(
      async () => {
        line = await doctor()
        return /41 of 41/.test(line)
      },
      { what: () => `all vectors: ${line}`, seconds: 60 },
    )
    assert.match(line, /^ok +embeddings +41 of 41 memories have a vector of default\/words$/)
    const { structuredContent } = await server.call('gateway_memory_search', { query: 'parcel van' })
    assert.equal(structuredContent.mode, 'hybrid')
  })

  it('says why none is made where the upstream has no embeddings, and searches by words', async (t) => {
    const place = await placeWithMemories()
    const upstream = await double.startUpstream()
    t.after(() => upstream.close())
    upstream.on('/embeddings', double.json(404, { error: { message: 'Unknown path' } }))
    const { stdout } = await run(place, ['doctor'], { GAZEWAY_UPSTREAM: upstream.url })
    assert.match(
      embeddingsIn(stdout),
      /^warn +embeddings +0 of 40 memories .*answered 404\. .*searches match words only\.$/,
    )
    const server = await connect(place, { env: { GAZEWAY_UPSTREAM: upstream.url } })
    const { structuredContent } = await server.call('gateway_memory_search', { query: 'parcel van', limit: 10 })
    assert.deepEqual([structuredContent.mode, structuredContent.results.length], ['lexical', 10])
  })
})
