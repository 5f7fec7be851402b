import assert from 'node:assert/strict'
import { it } from 'node:test'
import { tagsIn } from '../../src/calls/call-tags.ts'

it('reads at most ten tags of 64 printable characters, each once', () => {
  const numbers = Array.from({ length: 12 }, (_, i) => `t${i}`)
  for (const [header, tags] of [
    [' team-a, ticket 12 ,team-a,,', ['team-a', 'ticket 12']],
    [`${'x'.repeat(65)},${'y'.repeat(64)},caf\u00e9`, ['y'.repeat(64)]],
    [numbers.join(), numbers.slice(0, 10)],
    [`a,${'b'.repeat(1_000_000)}`, ['a']],
    [' , ', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const)
    assert.deepEqual(tagsIn(header), tags)
})
