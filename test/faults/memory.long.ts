import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { folder, inspect, killWriters, write } from './memory-writers.ts'

it('loses nothing when four processes create one store and write 100 memories each', { timeout: 120_000 }, async () => {
  const url = `sqlite:${join(folder, 'four', 'store.db')}`
  const names = ['one', 'two', 'three', 'four']
  const results = await Promise.all(names.map((name) => write(url, name, 100).ended))
  for (const { code, complaints, acknowledged } of results)
    assert.deepEqual(
      { code, complaints, acknowledged: acknowledged.length },
      { code: 0, complaints: '', acknowledged: 100 },
    )
  const kept = await inspect(url)
  assert.equal(kept.size, 4 * 100 + 1)
  for (const name of names) for (let i = 0; i < 100; i++) assert.equal(kept.get(`${name}/${i}`), 1)
  assert.equal(kept.get('shared'), 4 * 100)
})

it('loses no acknowledged memory over 8 kills in the middle of writing', { timeout: 180_000 }, () => killWriters(8))
