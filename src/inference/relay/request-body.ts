import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'

/**
 * A request as its client sent it: bytes, text, and the parsed JSON, in which JavaScript may lose digits of numbers.
 */
export interface ClientRequest<Body> {
  bytes: Buffer
  text: string
  json: Body
}

/**
 * Adds a field that a request lacks or has as null. The rest of the text stays as its client wrote it.
 *
 * `json` itself is changed. With a changed copy of it, each call costs a tenth more time: V8 reads the copy slowly.
 *
 * @returns a promise only when a null is replaced beside numbers that JavaScript cannot represent
 */
export function addField<Body extends Record<string, unknown>>(
  { text, json }: ClientRequest<Body>,
  name: string,
  value: number,
): ClientRequest<Body> | Promise<ClientRequest<Body>> {
  const isNull = Object.hasOwn(json, name)
  const fields: Record<string, unknown> = json
  fields[name] = value
  const written = isNull
    ? convertedText(text, json, (body) => ({ ...body, [name]: value }))
    : `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(name)}:${value}}`
  const request = (changed: string) => ({ bytes: Buffer.from(changed), text: changed, json })
  return written instanceof Promise ? written.then(request) : request(written)
}

/**
 * Sets a field of a request, or removes it. The request itself stays as it is.
 *
 * @param value undefined to remove the field
 * @returns a promise only beside numbers that JavaScript cannot represent
 */
export function changedField<Body extends object>(
  { text, json }: ClientRequest<Body>,
  name: string,
  value: unknown,
): ClientRequest<Body> | Promise<ClientRequest<Body>> {
  const changed = { ...json, [name]: value }
  const written = convertedText(text, changed, (body) => ({ ...body, [name]: value }))
  const request = (of: string) => ({ bytes: Buffer.from(of), text: of, json: changed })
  return written instanceof Promise ? written.then(request) : request(written)
}

/**
 * Matches a number that JavaScript may not represent as written: sixteen digits or more, or an exponent of three
 * digits. Numbers in JSON follow one of `:[,`, which excludes the base64 of images.
 */
const LARGE_NUMBER = /[:[,]\s*-?(?:\d[\d.]{15,}|[\d.]+[eE][+-]?\d{3,})/

/**
 * Body of a request for the upstream, with `changes` applied. The client's own bytes are sent when they say the same
 * already. In a rewritten body, numbers that JavaScript cannot represent (a 64-bit `seed`) keep their text, which is
 * slower.
 *
 * @param request request of the client
 * @param changesOf fields to set in a body
 * @throws GazewayError `invalid_json` for a request nested too deeply to be serialized
 */
export function requestBody(
  { bytes, text, json }: ClientRequest<object>,
  changesOf: (body: object) => Readonly<Record<string, unknown>>,
): string | Buffer | Promise<string> {
  const changes = changesOf(json)
  if (says(text, json as Record<string, unknown>, changes)) return bytes
  return convertedText(text, { ...json, ...changes }, (body) => ({ ...body, ...changesOf(body) }))
}

/**
 * Serializes a converted request, with the numbers of the original text.
 *
 * @param sent result of `convert` for the client's request
 * @param convert must not touch a number that JavaScript cannot represent; an object represents it
 */
export function convertedText(text: string, sent: object, convert: (body: object) => object): string | Promise<string> {
  if (LARGE_NUMBER.test(text)) return exactText(text, convert).catch(refuseDepth)
  return readable(() => JSON.stringify(sent))
}

/**
 * Runs work on a request.
 *
 * @throws GazewayError `invalid_json` for one nested too deeply for it
 */
export function readable<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    return refuseDepth(error)
  }
}

/**
 * Tells whether a request already contains `changes`, each exactly once and unescaped. When a name occurs twice,
 * servers differ in which value they use, and the call record holds one of them.
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
  throw new GazewayError('invalid_json', 'The body is nested too deeply; at most a few thousand levels are allowed.', {
    cause,
  })
}

const loadLosslessJson = lazily(() => import('lossless-json'))

async function exactText(text: string, convert: (body: object) => object): Promise<string> {
  const { isSafeNumber, LosslessNumber, parse, stringify } = await loadLosslessJson()
  const exact = parse(text, null, {
    parseNumber: (number) => (isSafeNumber(number) ? Number(number) : new LosslessNumber(number)),
    // The last of two equal keys counts, as in JSON.parse.
    onDuplicateKey: ({ newValue }) => newValue,
  })
  return stringify(convert(exact as object)) ?? ''
}
