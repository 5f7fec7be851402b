import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { digestOf, dumpFile, landedDigests, STEPS } from './landed.ts'

describe('a migration that has landed', () => {
  const digests = landedDigests()
  for (const step of STEPS)
    it(`stays as it is, with a store of its code beside it: ${step}`, () => {
      const todo = 'A new one: npm run dump-store. One that has landed never changes: add another migration.'
      assert.equal(digests[step], digestOf(step), todo)
      for (const engine of ['sqlite', 'postgres'] as const) assert.ok(existsSync(dumpFile(step, engine)), todo)
    })
})
