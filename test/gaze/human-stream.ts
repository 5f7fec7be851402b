import type { GazeTensor } from '../../src/gaze/tensor.ts'

/**
 * SYNTHETIC gaze, drawn from published distributions; no recording of a person. The same seed gives the same stream.
 *
 * - fixation durations: log-normal, median 250 ms, σ 0.45 (mean 277 ms; Rayner 1998, 2009 report 225–330 ms)
 * - saccade amplitudes: exponential, mean 4.5° on a 48° wide screen (Rayner 2009: 4–5° in scenes)
 * - saccade durations: the main sequence, 2.2 ms per degree + 21 ms (Bahill, Clark & Stark 1975; Carpenter 1988)
 * - a blink of 100–400 ms about every 4 s (Schiffman 2001)
 */
export function humanStream(
  seed: number,
  options: { records?: number; start?: string; paths?: string[] } = {},
): GazeTensor[] {
  const random = randomOf(seed)
  const paths = options.paths ?? ['src/a.ts', 'src/b.ts', 'test/a.test.ts']
  let time = Date.parse(options.start ?? '2026-11-21T07:00:00.000Z')
  let [x, y, file, focus] = [0.5, 0.5, 0, 0.7]
  return Array.from({ length: options.records ?? 60 }, () => {
    const dwell = Math.round(250 * Math.exp(0.45 * normal(random)))
    focus = clamp(focus + 0.03 * normal(random))
    if (random() < 0.1) file = Math.floor(random() * paths.length)
    const first = 1 + Math.floor(random() * 200)
    const record: GazeTensor = {
      at: new Date(time).toISOString(),
      dwell_ms: dwell,
      source: 'eye_tracker',
      confidence: clamp(0.92 + 0.04 * normal(random)),
      cog: { focus, load: clamp(0.5 + 0.1 * normal(random)) },
      emo: { valence: 0.1 * normal(random), arousal: clamp(0.3 + 0.05 * normal(random)) },
      env: {
        path: paths[file] as string,
        line_start: first,
        line_end: first + 5,
        x,
        y,
        pupil_mm: 3.5 + 0.2 * normal(random),
      },
    }
    const degrees = -4.5 * Math.log(1 - random())
    const direction = 2 * Math.PI * random()
    x = reflect(x + (degrees / 48) * Math.cos(direction))
    y = reflect(y + (degrees / 30) * Math.sin(direction))
    const blink = random() < 0.07 ? 100 + 300 * random() : 0
    time += dwell + Math.round(21 + 2.2 * degrees + blink)
    return record
  })
}

/**
 * SYNTHETIC editor attention: dwells on files, log-normal with median 2.5 s and σ 0.9 (heavy-tailed, as Liu, White &
 * Dumais 2010 find for pages), and exponential pauses of 0.8 s between them. No screen positions.
 */
export function editorStream(seed: number, records = 60): GazeTensor[] {
  const random = randomOf(seed)
  let time = Date.parse('2026-11-21T07:00:00.000Z')
  return Array.from({ length: records }, () => {
    const dwell = Math.min(60_000, Math.round(2500 * Math.exp(0.9 * normal(random))))
    const record: GazeTensor = {
      at: new Date(time).toISOString(),
      dwell_ms: dwell,
      source: 'ide',
      confidence: 0.9,
      cog: { focus: 0.6, load: 0.5 },
      emo: { valence: 0, arousal: 0.3 },
      env: { path: `src/${Math.floor(random() * 8)}.ts` },
    }
    time += dwell + Math.round(-800 * Math.log(1 - random()))
    return record
  })
}

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A standard normal number (Box & Muller 1958). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}

/** Keeps a position on the screen by turning it back at the edge. */
function reflect(value: number): number {
  const folded = Math.abs(value) % 2
  return folded > 1 ? 2 - folded : folded
}
