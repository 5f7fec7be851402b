import assert from 'node:assert/strict'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { giveBackIdleMemory } from '../../adapters/idle-memory.ts'

/** How long it may take; V8 looks at the last ten collections. */
const PATIENCE_MS = 15_000

const youngGeneration = () =>
  (getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0) / 1024 ** 2

/** Has things outlive a collection until V8 makes the room for them as large as it gets. */
function load(): void {
  const kept: unknown[] = []
  for (let i = 0; i < 1e7; i++) kept[i % 1e5] = { i }
}

describe('the memory of an idle process', () => {
  let asked = 0
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as unknown as { detail: { flags: number } }[])
      if (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) asked++
  })
  let stop: () => void
  before(() => {
    observer.observe({ entryTypes: ['gc'] })
    ;({ stop } = giveBackIdleMemory())
  })
  after(() => {
    stop()
    observer.disconnect()
  })

  it('is left alone while there is work', async () => {
    const busy = setInterval(() => {
      const end = performance.now() + 20
      while (performance.now() < end);
    }, 100)
    load()
    await delay(3500)
    clearInterval(busy)
    assert.equal(asked, 0)
  })

  it('is given back once there is none', async () => {
    load()
    const loaded = youngGeneration()
    assert.ok(loaded >= 16, `${loaded} MiB`)
    const deadline = Date.now() + PATIENCE_MS
    while (youngGeneration() > loaded / 4 && Date.now() < deadline) await delay(500)
    assert.ok(youngGeneration() <= loaded / 4, `${youngGeneration()} of ${loaded} MiB`)
    assert.ok(asked > 0)
  })
})
