import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'

const share = (value: number) => Math.min(1, Math.max(0, value))

/**
 * Fixations as the raw samples of a tracker with a constant rate: each is where the eye is at the tick, with noise.
 *
 * @param options.hz samples a second; 60 when absent
 * @param options.noise standard deviation on each axis, as a share of the screen; 0.0015, about 0.07°, when absent
 */
export function sampled(
  fixations: readonly GazeTensor[],
  { hz = 60, noise = 0.0015, seed = 1 }: { hz?: number; noise?: number; seed?: number } = {},
): GazeTensor[] {
  const random = randomOf(seed)
  return fixations.flatMap((fixation) => {
    const begin = Date.parse(fixation.at)
    const first = Math.ceil((begin * hz) / 1000)
    const ticks = Math.max(0, Math.ceil((endOf(fixation) * hz) / 1000) - first)
    return Array.from({ length: ticks }, (_, i) => ({
      ...fixation,
      at: new Date(Math.round(((first + i) * 1000) / hz)).toISOString(),
      dwell_ms: 0,
      env: {
        ...fixation.env,
        x: share((fixation.env.x ?? 0) + noise * normal(random)),
        y: share((fixation.env.y ?? 0) + noise * normal(random)),
      },
    }))
  })
}

/** The same records `ms` later. */
export function shifted(records: readonly GazeTensor[], ms: number): GazeTensor[] {
  return records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + ms).toISOString() }))
}

/** The same records `ms` later, with noise on every time, dwell, position and channel. */
export function blurred(records: readonly GazeTensor[], ms: number, seed: number): GazeTensor[] {
  const random = randomOf(seed)
  return shifted(records, ms).map((record) => ({
    ...record,
    at: new Date(Date.parse(record.at) + Math.round(3 * normal(random))).toISOString(),
    dwell_ms: Math.max(0, Math.round(record.dwell_ms * (1 + 0.02 * normal(random)))),
    cog: {
      focus: share((record.cog?.focus ?? 0) + 0.01 * normal(random)),
      load: share((record.cog?.load ?? 0) + 0.01 * normal(random)),
    },
    env: {
      ...record.env,
      x: share((record.env.x ?? 0) + 0.002 * normal(random)),
      y: share((record.env.y ?? 0) + 0.002 * normal(random)),
    },
  }))
}
