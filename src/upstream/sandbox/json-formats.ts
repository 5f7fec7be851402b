import { fullFormats } from 'ajv-formats/dist/formats.js'

/** A `format` of JSON Schema: strings that have it, best first, and whether a string does. */
export interface Format {
  /** @param variant tells apart the strings of a list, where the format allows for it */
  samples(variant: number): string[]
  check(value: string): boolean
}

/** @param name one of {@link fullFormats} that is told by a pattern or a function */
function checkOf(name: keyof typeof fullFormats): (value: string) => boolean {
  const format: unknown = fullFormats[name]
  const validate = typeof format === 'object' && format !== null && 'validate' in format ? format.validate : format
  if (validate instanceof RegExp) return (value) => validate.test(value)
  if (typeof validate === 'function') return (value) => validate(value) === true
  throw new TypeError(`The format ${name} is not one of strings`)
}

function fixed(name: keyof typeof fullFormats, ...samples: string[]): Format {
  return { samples: () => samples, check: checkOf(name) }
}

/**
 * The formats that are made, in the reserved names and ranges of RFC 2606, RFC 5737 and RFC 3849. They are checked as
 * Ajv checks them, the validator that most callers put a reply through.
 */
export const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    'date-time': fixed('date-time', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z'),
    date: fixed('date', '2026-01-01'),
    time: fixed('time', '00:00:00Z'),
    duration: fixed('duration', 'PT1S', 'P1D'),
    email: fixed('email', 'sandbox@sandbox.invalid'),
    hostname: fixed('hostname', 'sandbox.invalid'),
    uri: fixed('uri', 'https://sandbox.invalid/', 'http://sandbox.invalid/'),
    url: fixed('url', 'https://sandbox.invalid/', 'http://sandbox.invalid/'),
    ipv4: fixed('ipv4', '192.0.2.1'),
    ipv6: fixed('ipv6', '2001:db8::1'),
    uuid: {
      samples: (variant) => [`00000000-0000-4000-8000-${variant.toString(16).padStart(12, '0')}`],
      check: checkOf('uuid'),
    },
  }),
)
