import { isIPv4, isIPv6 } from 'node:net'

/** A `format` of JSON Schema: strings that have it, best first, and whether a string does. */
export interface Format {
  /** @param variant tells apart the strings of a list, where the format allows for it */
  samples(variant: number): string[]
  check(value: string): boolean
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i
const DURATION = /^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?$/
const HOSTNAME = /^(?=.{1,253}$)[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i
const EMAIL = /^[^\s@]+@[^\s@]+$/

const isDate = (value: string) => DATE.test(value) && !Number.isNaN(Date.parse(value))

function isDateTime(value: string): boolean {
  const [date = '', time = ''] = value.split(/t/i)
  return isDate(date) && TIME.test(time)
}

function fixed(check: (value: string) => boolean, ...samples: string[]): Format {
  return { samples: () => samples, check }
}

const uri = fixed((value) => URL.canParse(value), 'https://sandbox.invalid/', 'http://sandbox.invalid/')

/** The formats that are made and checked, in the reserved names and ranges of RFC 2606, RFC 5737 and RFC 3849. */
export const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries({
    'date-time': fixed(isDateTime, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z'),
    date: fixed(isDate, '2026-01-01'),
    time: fixed((value) => TIME.test(value), '00:00:00Z'),
    duration: fixed((value) => DURATION.test(value), 'PT1S', 'P1D'),
    email: fixed((value) => EMAIL.test(value), 'sandbox@sandbox.invalid'),
    hostname: fixed((value) => HOSTNAME.test(value), 'sandbox.invalid'),
    uri,
    url: uri,
    ipv4: fixed(isIPv4, '192.0.2.1'),
    ipv6: fixed(isIPv6, '2001:db8::1'),
    uuid: {
      samples: (variant) => [`00000000-0000-4000-8000-${variant.toString(16).padStart(12, '0')}`],
      check: (value) => UUID.test(value),
    },
  }),
)
