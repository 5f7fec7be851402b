import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect, newPlace } from './server.ts'

/** SYNTHETIC gaze, one record each 200 ms. */
const gaze = (count: number, startMs: number) =>
  Array.from({ length: count }, (_, i) => ({
    at: new Date(startMs + i * 200).toISOString(),
    dwell_ms: 180,
    source: 'eye_tracker',
    confidence: 0.9,
    cog: { focus: 0.5, load: 0.4 },
    emo: { valence: 0, arousal: 0.2 },
    env: { path: `src/file-${i % 50}.ts`, x: (i % 97) / 97, y: (i % 89) / 89 },
  }))

describe('the threads of the built command', () => {
  it('read the store, analyse many gaze records, and match slow patterns', async () => {
    const place = newPlace()
    // Without git, the walk itself goes by the patterns.
    rmSync(join(place.project, '.git'), { recursive: true })
    writeFileSync(join(place.project, '.gitignore'), `${'**/a/'.repeat(12)}b\n`)
    mkdirSync(join(place.project, 'a/'.repeat(80)), { recursive: true })
    writeFileSync(join(place.project, 'a/'.repeat(80), 'c'), '')
    const { call, stderr } = await connect(place)

    await call('gateway_memory_store', { key: 'deploy/staging', value: 'uses the eu-west cluster' })
    const { results } = (await call('gateway_memory_search', { query: 'clusters staging' })).structuredContent
    assert.equal(results[0]?.memory.key, 'deploy/staging')

    const startMs = Date.now() - 600_000
    for (const at of [startMs, startMs + 200_000])
      await call('gateway_store_gaze_data', { session_id: 'reading', records: gaze(600, at) })
    const analysed = await call('gateway_analyze_gaze_pattern', { session_id: 'reading', narrate: false })
    assert.equal(analysed.structuredContent.metrics.records, 1200)

    const context = await call('gateway_get_context')
    assert.notEqual(context.isError, true, context.content[0]?.text)
    assert.match(context.content[0]?.text ?? '', /slow patterns in a \.gitignore/)
    assert.doesNotMatch(stderr(), /error|thread/i)
  })
})
