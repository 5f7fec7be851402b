import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { MemoryInput } from '../../src/memory/memory.ts'
import { keepMemory } from '../../src/memory/records/store-memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { connect, newPlace, putStore, type ToolReply } from './server.ts'

/** Longest value, in bytes. */
const LONGEST = 256 * 1024
const LARGE = 1_000
/** Memories of one transaction. */
const TOGETHER = 50
/** Every so many values are of words; the others are one run of characters, as encoded data. */
const OF_WORDS = 50
const WORDS = Array.from({ length: 3_000 }, (_, i) => `word${i.toString(36)}`)

/** Figures of a process of Linux: highest resident memory in bytes, and time on a processor in seconds. */
function figuresOf(pid: number) {
  const peak = Number(
    /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? assert.fail('no VmHWM'),
  )
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? []
  return { peak: peak * 1024, seconds: (Number(user) + Number(system)) / 100 }
}

function textOfReport(i: number): string {
  const begin = `Report ${i} of the server alpha${i}. `
  if (i % OF_WORDS > 0) return `${begin}${'x'.repeat(LONGEST - begin.length)}`
  let value = begin
  for (let at = i; value.length < LONGEST; at++) value += `${WORDS[(at * 7) % WORDS.length]} `
  return value.slice(0, LONGEST)
}

describe('a thousand memories of 256 KiB', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  const place = newPlace()
  before(async () => {
    mkdirSync(place.data, { recursive: true })
    putStore(place)
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    const now = new Date().toISOString()
    for (let from = 0; from < LARGE; from += TOGETHER)
      await store.write(async (trx) => {
        for (let i = from; i < from + TOGETHER; i++)
          await keepMemory(trx, 0, MemoryInput.parse({ key: `report/${i}`, value: textOfReport(i) }), now)
      })
    await store.close()
  })

  it('are searched, recalled and listed in small replies, by a process that stays small', async () => {
    const { client, call } = await connect(place)
    const { pid } = client.transport as unknown as { pid: number }
    await call('gateway_memory_search', { query: 'nothing of the kind' })
    const before = figuresOf(pid)
    const keysOf = ({ structuredContent }: ToolReply) =>
      structuredContent.results.map(({ memory }: { memory: { key: string } }) => memory.key)
    const sizes: number[] = []
    for (const [query, key] of [
      ['alpha77', 'report/77'],
      ['report of the server alpha500', 'report/500'],
      ['word1 word2c alpha50', 'report/50'],
      ['word7', null],
      ['report of a server', null],
    ] as const) {
      const found = await call('gateway_memory_search', { query })
      if (key === null) assert.equal(keysOf(found).length, 3)
      else assert.equal(keysOf(found)[0], key)
      sizes.push(JSON.stringify(found.structuredContent).length)
    }
    assert.ok(Math.max(...sizes) < 6_000, `${sizes} characters`)
    const recalled = (await call('gateway_memory_recall', { key: 'report/999' })).structuredContent
    assert.ok(textOfReport(999).startsWith(recalled.memory.value.slice(0, 10_000)))
    assert.match(recalled.cut, /memory\.value/)
    const { memories } = (await call('gateway_get_context', { query: 'report of the server alpha77' }))
      .structuredContent
    assert.ok(JSON.stringify(memories).length < 10_000)
    const refused = await call('gateway_memory_store', { key: 'more', value: `${textOfReport(1)}.` })
    assert.match(refused.content[0]?.text ?? '', /at most 256 KiB/)
    const after = figuresOf(pid)
    assert.ok(after.seconds - before.seconds < 5, `${after.seconds - before.seconds} s`)
    assert.ok(after.peak < 400e6, `${after.peak / 1e6} MB`)
    await client.close()
  })
})
