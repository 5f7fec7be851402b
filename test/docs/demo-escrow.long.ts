import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { scriptArgs } from '../doubles/script.ts'

describe('the demo of escrow', () => {
  const demo = spawnSync(process.execPath, [...scriptArgs('scripts/demo.ts'), '--escrow'], { encoding: 'utf8' })

  it('pays the agent exactly once on a chain of its own', () => {
    assert.equal(demo.status, 0, demo.stdout + demo.stderr)
    assert.match(demo.stdout, /"agent_on_chain": 0\n[\s\S]*"agent_on_chain": 2\.5\n[\s\S]*paid exactly once/)
  })

  it('shows each step of the way, and no key', () => {
    for (const step of [1, 2, 3, 4, 5, 6, 7, 8, 9]) assert.match(demo.stdout, new RegExp(`^${step}\\. `, 'm'))
    assert.doesNotMatch(demo.stdout + demo.stderr, /gzw_|0xac0974be/)
  })
})
