import type { GazeTensor } from '../../src/gaze/tensor.ts'

/** Dwell time of each look and pause after it, in ms: quantiles of a log-normal and an exponential distribution. */
const DWELLS = [
  860, 1770, 3020, 5630, 570, 1490, 2600, 4590, 16_970, 1240, 2230, 3840, 8680, 980, 1910, 3270, 6350, 720, 1630, 2800,
  5060, 370, 1360, 2410, 4190, 10_990, 1110, 2070, 3540, 7310,
]
const PAUSES = [
  160, 640, 1990, 270, 840, 10, 390, 1110, 100, 530, 1520, 200, 700, 2400, 300, 920, 40, 430, 1220, 130, 580, 1720, 230,
  770, 3280, 340, 1010, 70, 480, 1360,
]
/** Places that the reader looks at, and looks before they move on to the next. */
const PLACES = [
  { path: 'src/inference/client/respond.ts', line_start: 30, line_end: 60 },
  { path: 'src/inference/client/complete-chat.ts', line_start: 20, line_end: 48 },
  { path: 'tools/llm-query.ts', line_start: 1, line_end: 24 },
]
const LOOKS_PER_VISIT = 5

/** Two made-up minutes of a person who reads this repository in an editor and tires a little, ending at `end`. */
export function madeUpReading(end: Date): GazeTensor[] {
  let time = end.getTime() - sum(DWELLS) - sum(PAUSES)
  return DWELLS.map((dwell_ms, look) => {
    const at = new Date(time).toISOString()
    const tired = look / DWELLS.length
    time += dwell_ms + (PAUSES[look] ?? 0)
    return {
      at,
      dwell_ms,
      source: 'ide',
      confidence: 0.9,
      cog: { focus: hundredths(0.9 - 0.3 * tired), load: hundredths(0.4 + 0.2 * tired) },
      emo: { valence: 0.1, arousal: 0.3 },
      env: { ...PLACES[Math.floor(look / LOOKS_PER_VISIT) % PLACES.length] },
    }
  })
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const hundredths = (value: number) => Math.round(value * 100) / 100
