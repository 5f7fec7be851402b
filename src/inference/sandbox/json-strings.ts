/** Sample string per `format`, from the reserved names and ranges of RFC 2606, RFC 5737 and RFC 3849. */
const FORMATS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'date-time': '2026-01-01T00:00:00Z',
    date: '2026-01-01',
    time: '00:00:00Z',
    duration: 'PT1S',
    email: 'sandbox@sandbox.invalid',
    hostname: 'sandbox.invalid',
    uri: 'https://sandbox.invalid/',
    url: 'https://sandbox.invalid/',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
  }),
)

/** Short strings that common patterns match: names, numbers, versions, colours, codes. */
const PATTERN_SAMPLES =
  'sandbox Sandbox SANDBOX s S 0 1 12 123 1234 12345 a1 A1 AB ABC AB-123 ab-1 1.0 1.0.0 v1.0.0 #000000 #000 /sandbox +15550100 555-0100 en en-US 00:00 1s'.split(
    ' ',
  )

/** Longest string that is padded with dots, in characters. */
const MAX_PADDING = 65_536

/** Sample string of a `format`. Undefined for an unknown one, which then takes free text. */
export const stringOfFormat = (format: string | undefined, variant: number): string | undefined =>
  format === 'uuid' ? `00000000-0000-4000-8000-${variant.toString(16).padStart(12, '0')}` : FORMATS.get(format ?? '')

/**
 * Finds a string that a pattern matches: `text`, a common sample, or the string of a format.
 *
 * @returns undefined when none matches
 * @throws SyntaxError when the pattern is not a regular expression
 */
export function stringOfPattern(pattern: string, text: string): string | undefined {
  const matcher = new RegExp(pattern, 'u')
  return [text, ...PATTERN_SAMPLES, ...FORMATS.values(), ''].find((sample) => matcher.test(sample))
}

/**
 * Cuts `text`, or pads it with dots, to between `min` and `max` Unicode code points (JSON Schema's measure).
 *
 * @example fitLength('abcdef', 0, 3) // 'abc'
 */
export function fitLength(text: string, min = 0, max = Number.POSITIVE_INFINITY): string {
  const points = [...text]
  const cut = points.length > max ? points.slice(0, max).join('').trimEnd() : text
  const { length } = [...cut]
  const wanted = Math.min(min, MAX_PADDING)
  return length >= wanted ? cut : cut + '.'.repeat(wanted - length)
}
