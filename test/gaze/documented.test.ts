import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  CLOCK_SKEW_MS,
  EXPECTED,
  HALF_LIFE_MS,
  REPLAY_RECORDS,
  REPLAY_SHARE,
  WEIGHTS,
} from '../../src/gaze/attestation.ts'
import { MOVEMENT_LIMITS } from '../../src/gaze/movement.ts'
import { CEILING, COARSE_CEILING, COARSE_MS, DURATIONS, LIMITS } from '../../src/gaze/plausibility.ts'
import { TICK_MS } from '../../src/gaze/raw-samples.ts'
import { GazeSource } from '../../src/gaze/tensor.ts'

const page = readFileSync('docs/reference/attention.md', 'utf8')

/** The cells of the table row that begins with `head`. */
function row(head: string): string[] {
  const line = page.split('\n').find((text) => text.startsWith(`| ${head}`))
  assert.ok(line, `docs/reference/attention.md has no row for ${head}`)
  return line.split('|').map((cell) => cell.trim())
}

const numberIn = (text: string | undefined) => Number(/-?\d+(\.\d+)?/.exec(text ?? '')?.[0])

describe('docs/reference/attention.md', () => {
  it('gives the limits of every check as the code has them', () => {
    const heads = {
      variation: LIMITS.variation,
      'rhythm: coefficient': LIMITS.rhythmVariation,
      'rhythm: share': LIMITS.rhythmAlike,
      'slow rhythm': LIMITS.rhythmAlikeCoarse,
      novelty: LIMITS.novelty,
      overlap: LIMITS.overlap,
      'amplitude: the median': MOVEMENT_LIMITS.amplitudeMedian,
      'amplitude: coefficient': MOVEMENT_LIMITS.amplitudeVariation,
      'rate: saccades per second, at the least': MOVEMENT_LIMITS.fewSaccades,
      'rate: saccades per second, at the most': MOVEMENT_LIMITS.manySaccades,
      jitter: MOVEMENT_LIMITS.still,
    }
    for (const [head, limits] of Object.entries(heads)) {
      const [, , zero, one] = row(head)
      assert.deepEqual([numberIn(zero), numberIn(one)], [...limits], head)
    }
  })

  it('gives what is expected of every source', () => {
    for (const source of GazeSource.options) {
      const [, , share, gap, ceiling, dwell = ''] = row(`\`${source}\``)
      assert.equal(numberIn(share), EXPECTED[source].observed, source)
      assert.equal(numberIn(gap) * 1000, EXPECTED[source].gapMs, source)
      assert.equal(numberIn(ceiling), CEILING[source], source)
      const [, from, to, unit] = /^([\d.]+) to ([\d.]+) (ms|s)/.exec(dwell) ?? []
      const ms = unit === 's' ? 1000 : 1
      assert.deepEqual([Number(from) * ms, Number(to) * ms], DURATIONS[source].slice(1, 3), source)
    }
  })

  it('gives the weights of the components, the half-life of freshness, and when it is a replay', () => {
    for (const [component, weight] of Object.entries(WEIGHTS))
      assert.ok(page.includes(`${component}^${weight.toFixed(2)}`), `${component}^${weight}`)
    assert.ok(page.includes(`2^(−age / ${HALF_LIFE_MS / 60_000} min)`), 'the half-life')
    assert.deepEqual([CLOCK_SKEW_MS, REPLAY_RECORDS, REPLAY_SHARE], [60_000, 5, 0.2])
    assert.ok(page.includes(`one is taken from each ${TICK_MS} ms`))
    assert.ok(page.includes(`Samples more than ${COARSE_MS} ms apart`))
    assert.ok(page.includes(`the ceiling is ${COARSE_CEILING} times`))
    assert.match(page, /more than a minute ahead/)
    assert.match(page, /at least five of the records, and a fifth of them/)
  })
})
