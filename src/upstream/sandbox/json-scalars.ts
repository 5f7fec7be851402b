import { FORMATS } from './json-formats.ts'
import type { JsonSchema } from './json-schema.ts'

/** Short strings that common patterns ask for: names, numbers, versions, colours, codes. */
const PATTERN_SAMPLES = [
  'sandbox',
  'Sandbox',
  'SANDBOX',
  's',
  'S',
  '0',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  'a1',
  'A1',
  'AB',
  'ABC',
  'AB-123',
  'ab-1',
  '1.0',
  '1.0.0',
  'v1.0.0',
  '#000000',
  '#000',
  '/sandbox',
  '+15550100',
  '555-0100',
  'en',
  'en-US',
  '00:00',
  '1s',
  '',
]

/** Longest string that the sandbox pads to, in characters. */
const MAX_PADDING = 65_536

/**
 * Strings to try for `schema`, best first: samples of its format, else `text` made to fit its length, then samples of
 * common patterns where it has one.
 *
 * @param variant tells apart the strings of a list
 */
export function stringCandidates(schema: JsonSchema, text: string, variant: number): string[] {
  const formatted = FORMATS.get(schema.format ?? '')?.samples(variant) ?? []
  const fitted = fitLength(text, schema.minLength ?? 0, schema.maxLength ?? Infinity)
  const numbered = fitLength(`${variant + 1} ${text}`, schema.minLength ?? 0, schema.maxLength ?? Infinity)
  if (schema.pattern === undefined) return formatted.length > 0 ? formatted : [fitted, numbered]
  const samples = [...PATTERN_SAMPLES, ...[...FORMATS.values()].flatMap((format) => format.samples(variant))]
  return [
    ...formatted,
    fitted,
    ...samples,
    ...samples.map((sample) => fitLength(sample, schema.minLength ?? 0, Infinity)),
  ]
}

/** `text` with at least `min` and at most `max` Unicode code points (JSON Schema's measure): cut, or filled up with dots. */
function fitLength(text: string, min: number, max: number): string {
  const points = [...text]
  const cut = points.length > max ? points.slice(0, max).join('').trimEnd() : text
  const length = [...cut].length
  const wanted = Math.min(min, MAX_PADDING)
  return length >= wanted ? cut : cut + '.'.repeat(wanted - length)
}

/**
 * Numbers to try for `schema`, best first: the middle of a range, the bound of a half-open one, 1 where there is none,
 * then its neighbours.
 *
 * @param variant tells apart the numbers of a list
 */
export function numberCandidates(schema: JsonSchema, integer: boolean, variant: number): number[] {
  const low = Math.max(schema.minimum ?? -Infinity, schema.exclusiveMinimum ?? -Infinity)
  const high = Math.min(schema.maximum ?? Infinity, schema.exclusiveMaximum ?? Infinity)
  const step = schema.multipleOf ?? 1
  const start = startOf(low, high)
  const unit = integer || schema.multipleOf !== undefined ? Math.round(start / step) * step : start

  const around = [variant, 0, 1, -1, 2, -2, 3, -3, ...Array.from({ length: 100 }, (_, at) => at - 50)]
  const near = around.map((offset) => unit + offset * step)
  const multiples = integer ? around.map((offset) => Math.round(start) + offset) : []
  const inside = integer ? [Math.ceil(low), Math.floor(high)] : [low, high, (low + high) / 2, start + 0.5 + variant]
  const fractions = integer ? [] : between(low, high, variant)
  return [...near.slice(0, 2), ...fractions, ...near, ...multiples, ...inside].filter(Number.isFinite)
}

/** Ranges wider than this are treated as no range: a program's limits, not a scale. */
const WIDE = 1_000_000

function startOf(low: number, high: number): number {
  if (high - low <= WIDE) return low + (high - low) / 2
  return Math.min(Math.max(1, low), high)
}

/** Fractions of a narrow range, so that a list of scores between 0 and 1 holds different ones. */
function between(low: number, high: number, variant: number): number[] {
  if (!(high - low <= WIDE)) return []
  const parts = 8
  return Array.from(
    { length: parts - 1 },
    (_, at) => low + ((high - low) * (1 + ((at + variant + 3) % (parts - 1)))) / parts,
  )
}
