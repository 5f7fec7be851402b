import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'

/** Degrees of visual angle that a screen is wide and high: 53 × 30 cm, 60 cm away. */
const SCREEN = { wide: 48, high: 28 }
const START = '2026-11-21T07:00:00.000Z'
/** The page: from the first to the last character of a line, and from the first line to the last, as shares of the screen. */
const PAGE = { left: 0.12, right: 0.88, top: 0.12, bottom: 0.88, lines: 16 }
/** A character is 0.36° wide. */
const CHARACTER = 0.36 / SCREEN.wide

/** A word of a page: its middle, as shares of the screen, and its length in characters. */
interface Word {
  x: number
  y: number
  line: number
  letters: number
}

/** A stretch of time in which the eye is in one place but for its small movements. Times in ms since the start. */
export interface Rest {
  from: number
  to: number
  x: number
  y: number
  /** Offset of the eye from `x` and `y`, in shares of the screen, at `ms` after `from`. */
  offset(ms: number): [x: number, y: number]
  /** The lids are closed at its end from here on, or never. */
  closedFrom: number
}

/** Eye movements of one reader. */
export interface Reading {
  rests: readonly Rest[]
  start: number
}

/**
 * SYNTHETIC: a page of words, the same for the same seed. Lengths as of English words, 1 to 12 letters, mean about 4.8.
 */
export function pageOf(seed: number): Word[] {
  const random = randomOf(seed)
  const words: Word[] = []
  for (let line = 0; line < PAGE.lines; line++) {
    const y = PAGE.top + ((PAGE.bottom - PAGE.top) * line) / (PAGE.lines - 1)
    let x = PAGE.left
    for (;;) {
      const letters = Math.min(12, 1 + Math.floor(1 + 1.9 * Math.abs(normal(random)) + 4.2 * random()))
      const end = x + letters * CHARACTER
      if (end > PAGE.right) break
      words.push({ x: (x + end) / 2, y, line, letters })
      x = end + CHARACTER
    }
  }
  return words
}

/**
 * SYNTHETIC: one reader of a page, drawn from published distributions; the same seed gives the same reading. It ends with
 * the page, or after `seconds`; who has read the page begins anew.
 *
 * - fixations: log-normal, median 210 ms, σ 0.38, of one reader up to a fifth shorter or longer (Rayner 1998, 2009: 225 to
 *   250 ms on average); longer on longer words
 * - landing places: about the middle of a word, σ 1.6 letters, σ 0.3° of height (McConkie and others 1988)
 * - skipped words: about half of those of up to three letters, a tenth of long ones; long ones are looked at twice, one
 *   time in five; 12% of saccades are regressions, by one to three words (Rayner 1998: 10 to 15%)
 * - return sweeps: σ 1° and short by 1°, with a correction after 100 to 200 ms in half of them (Parker and others 2019)
 * - saccade durations: 2.2 ms per degree + 21 ms (Carpenter 1988)
 * - drift: 0.5° a second in a direction of its own; microsaccades of 0.1° to 0.5°, one or two a second (Martinez-Conde and
 *   others 2009)
 * - blinks of 100 to 300 ms, about every 5 s (Schiffman 2001)
 */
export function readingOf(page: readonly Word[], seed: number, { seconds = 30, start = START } = {}): Reading {
  const random = randomOf(seed)
  const pace = 0.8 + 0.4 * random()
  const [leftOff, upOff] = [(0.25 * normal(random)) / SCREEN.wide, (0.25 * normal(random)) / SCREEN.high]
  const rests: Rest[] = []
  let time = 0
  let at = 0
  let nextBlink = -5000 * Math.log(1 - random())

  function rest(x: number, y: number, ms: number): void {
    const last = rests.at(-1)
    if (last !== undefined) {
      const degrees = Math.hypot((x - last.x) * SCREEN.wide, (y - last.y) * SCREEN.high)
      time += 21 + 2.2 * degrees
    }
    const to = time + ms
    const closed = to > nextBlink ? 100 + 200 * random() : 0
    if (closed > 0) nextBlink = to - 5000 * Math.log(1 - random())
    rests.push({ from: time, to: to + closed, x, y, offset: smallMovements(random), closedFrom: to })
    time = to + closed
  }

  while (time < 1000 * seconds) {
    const word = page[at] as Word
    const land = (spread: number) => word.x + leftOff + spread * CHARACTER * normal(random)
    const height = word.y + upOff + (0.3 * normal(random)) / SCREEN.high
    const ms = pace * 210 * (0.85 + 0.03 * word.letters) * Math.exp(0.38 * normal(random))
    const line = page[at - 1]?.line
    if (line !== undefined && line < word.line && random() < 0.5)
      rest(land(1) + (1 + normal(random)) / SCREEN.wide, height, 100 + 100 * random())
    rest(land(1.6), height, Math.max(60, ms))
    if (word.letters >= 8 && random() < 0.2) rest(land(2.5), height, Math.max(60, 0.8 * ms))
    if (random() < 0.12) at = Math.max(0, at - 1 - Math.floor(3 * random()))
    else {
      at++
      while (random() < skipping(page[at]?.letters ?? Number.POSITIVE_INFINITY)) at++
    }
    if (at >= page.length) at = 0
  }
  return { rests, start: Date.parse(start) }
}

function skipping(letters: number): number {
  if (letters <= 3) return 0.5
  return letters <= 6 ? 0.22 : 0.1
}

/** Drift and microsaccades of one fixation. */
function smallMovements(random: () => number): Rest['offset'] {
  const direction = 2 * Math.PI * random()
  const [driftX, driftY] = [Math.cos(direction) / 2000 / SCREEN.wide, Math.sin(direction) / 2000 / SCREEN.high]
  const first = -700 * Math.log(1 - random())
  const degrees = 0.1 + 0.4 * random()
  const turn = 2 * Math.PI * random()
  return (ms) => {
    const jumped = ms >= first ? degrees : 0
    return [
      driftX * ms + (jumped * Math.cos(turn)) / SCREEN.wide,
      driftY * ms + (jumped * Math.sin(turn)) / SCREEN.high,
    ]
  }
}

/** A reading as a tracker reports it that finds fixations by itself. */
export function fixationsOf({ rests, start }: Reading): GazeTensor[] {
  return rests.map(({ from, closedFrom, x, y, offset }) => {
    const [dx, dy] = offset((closedFrom - from) / 2)
    return recordOf(start + Math.round(from), Math.round(closedFrom - from), x + dx, y + dy)
  })
}

/**
 * A reading as the raw samples of a tracker with a constant rate: nothing while the lids are closed, the movement itself
 * while the eye is on its way, and noise on every position. Times are whole milliseconds, as the store keeps them.
 *
 * @param options.noise standard deviation on each axis in degrees; 0.05 when absent
 */
export function samplesOf({ rests, start }: Reading, { hz, noise = 0.05, seed = 1 }: SampleOptions): GazeTensor[] {
  const random = randomOf(seed)
  const found: GazeTensor[] = []
  let i = 0
  const end = rests.at(-1)?.to ?? 0
  for (let tick = 0; (tick * 1000) / hz < end; tick++) {
    const ms = (tick * 1000) / hz
    while ((rests[i + 1]?.from ?? Number.POSITIVE_INFINITY) <= ms) i++
    const rest = rests[i] as Rest
    if (ms >= rest.closedFrom && ms < rest.to) continue
    const [x, y] = ms < rest.closedFrom ? placeIn(rest, ms) : onTheWay(rest, rests[i + 1] ?? rest, ms)
    const [dx, dy] = [(noise * normal(random)) / SCREEN.wide, (noise * normal(random)) / SCREEN.high]
    found.push(recordOf(start + Math.floor(ms), 0, x + dx, y + dy))
  }
  return found
}

interface SampleOptions {
  hz: number
  noise?: number
  seed?: number
}

function placeIn({ from, x, y, offset }: Rest, ms: number): [number, number] {
  const [dx, dy] = offset(ms - from)
  return [x + dx, y + dy]
}

/** The smoothest way from one place to the next (minimum jerk: Flash & Hogan 1985). */
function onTheWay(last: Rest, next: Rest, ms: number): [number, number] {
  const share = (ms - last.to) / Math.max(1, next.from - last.to)
  const done = share ** 3 * (10 - 15 * share + 6 * share ** 2)
  return [last.x + done * (next.x - last.x), last.y + done * (next.y - last.y)]
}

function recordOf(at: number, dwell_ms: number, x: number, y: number): GazeTensor {
  return {
    at: new Date(at).toISOString(),
    dwell_ms,
    source: 'eye_tracker',
    confidence: 0.95,
    cog: { focus: 0.5, load: 0.5 },
    emo: { valence: 0, arousal: 0.5 },
    env: { url: 'https://example.org/page', x: share(x), y: share(y) },
  }
}

const share = (value: number) => Math.min(1, Math.max(0, value))

/** A reading of one of seven pages, as fixations, and one in five as raw samples. */
export function honestStream(seed: number): GazeTensor[] {
  const reading = readingOf(pageOf(1 + (seed % 7)), seed, { seconds: 25 })
  return seed % 5 === 0 ? samplesOf(reading, { hz: 30, seed }) : fixationsOf(reading)
}
