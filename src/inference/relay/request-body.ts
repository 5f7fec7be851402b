import { GazewayError } from '../../errors.ts'
import { lazily } from '../../wire/lazily.ts'

/** A request as its client sent it, as text, and what it holds as far as JavaScript can hold it. */
export interface ClientRequest<Body> {
  bytes: Buffer
  text: string
  json: Body
}

/** A request with a field that it has not, or has as null; without it, the rest stays as its client wrote it. */
export function withField<Body extends object>(
  { text, json }: ClientRequest<Body>,
  name: string,
  value: number,
): ClientRequest<Body> {
  const changed = { ...json, [name]: value }
  const written = Object.hasOwn(json, name)
    ? JSON.stringify(changed)
    : `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(name)}:${value}}`
  return { bytes: Buffer.from(written), text: written, json: changed }
}

/**
 * A number that JavaScript may not hold as it is written: of sixteen digits or more, or with an exponent of three.
 * Numbers in JSON follow one of `:[,`, which keeps the base64 of images from looking like them.
 */
const LARGE_NUMBER = /[:[,]\s*-?(?:\d[\d.]{15,}|[\d.]+[eE][+-]?\d{3,})/

/**
 * The body of a request for the upstream, with `changes` in place of its own fields: its client's own bytes where they say that already.
 * In one that is written anew, numbers that JavaScript cannot hold (a `seed` of 64 bits) stay as its client wrote them,
 * at about 0.1 s for each MiB.
 *
 * @param request what the client sent
 * @throws GazewayError `invalid_json` for a request that is nested so deeply that it can be read but not written
 */
export function requestBody(
  { bytes, text, json }: ClientRequest<object>,
  changes: Readonly<Record<string, unknown>>,
): string | Buffer | Promise<string> {
  if (says(text, json as Record<string, unknown>, changes)) return bytes
  return convertedText(text, { ...json, ...changes }, (body) => ({ ...body, ...changes }))
}

/**
 * The same for a request that is made of its client's.
 *
 * @param sent what `convert` makes of the client's request
 * @param convert must leave a number as it is that JavaScript cannot hold: an object stands for it
 */
export function convertedText(text: string, sent: object, convert: (body: object) => object): string | Promise<string> {
  if (LARGE_NUMBER.test(text)) return exactText(text, convert).catch(refuseDepth)
  return readable(() => JSON.stringify(sent))
}

/** Works on a request. @throws GazewayError `invalid_json` for one that is nested too deeply for it */
export function readable<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    return refuseDepth(error)
  }
}

/**
 * Whether a request says what `changes` say, each of them once and in so many letters: of a name that comes twice, some
 * servers take the first value and some the last, and the call is recorded with one of them.
 */
function says(
  text: string,
  json: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): boolean {
  if (text.includes('\\u')) return false
  for (const name in changes) if (json[name] !== changes[name] || !comesOnce(text, `"${name}"`)) return false
  return true
}

const comesOnce = (text: string, part: string): boolean => text.indexOf(part, text.indexOf(part) + 1) < 0

function refuseDepth(cause: unknown): never {
  if (!(cause instanceof RangeError)) throw cause
  throw new GazewayError('invalid_json', 'The body is nested too deeply; some thousand levels are accepted.', { cause })
}

const loadLosslessJson = lazily(() => import('lossless-json'))

async function exactText(text: string, convert: (body: object) => object): Promise<string> {
  const { isSafeNumber, LosslessNumber, parse, stringify } = await loadLosslessJson()
  const exact = parse(text, null, {
    parseNumber: (number) => (isSafeNumber(number) ? Number(number) : new LosslessNumber(number)),
    // The last of two equal keys counts, as it does for JSON.parse.
    onDuplicateKey: ({ newValue }) => newValue,
  })
  return stringify(convert(exact as object)) ?? ''
}
