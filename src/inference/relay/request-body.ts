import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import { type JsonMember, type JsonOutline, outlineOf } from '../../text/json-members.ts'
import { splicedJson } from '../../text/json-splice.ts'
import { LARGE_JSON, stringifyInTurns } from '../../wire/large-json.ts'

/**
 * A request as its client sent it: bytes, text, and the parsed JSON, in which JavaScript may lose digits of numbers.
 */
export interface ClientRequest<Body> {
  bytes: Buffer
  text: string
  json: Body
  /** Gives the outline of the text, which is made once. */
  outline?: () => JsonOutline
  /** Fields of `json` that Gazeway has set, which bytes and text do not have yet. Undefined removes one. */
  edits?: Readonly<Record<string, unknown>>
}

/**
 * Sets a field that a request lacks or has as null.
 *
 * `json` itself is changed. With a changed copy of it, each call costs a tenth more time: V8 reads the copy slowly.
 */
export function addField<Body extends Record<string, unknown>>(
  request: ClientRequest<Body>,
  name: string,
  value: number,
): ClientRequest<Body> {
  const { bytes, text, json, outline } = request
  const fields: Record<string, unknown> = json
  fields[name] = value
  return { bytes, text, json, ...(outline && { outline }), edits: { ...request.edits, [name]: value } }
}

/**
 * Sets a field of a request, or removes it. The request itself stays as it is.
 *
 * @param value undefined to remove the field
 */
export function changedField<Body extends object>(
  request: ClientRequest<Body>,
  name: string,
  value: unknown,
): ClientRequest<Body> {
  const change = { [name]: value }
  return { ...request, json: { ...request.json, ...change }, edits: { ...request.edits, ...change } }
}

/**
 * Writes a request again, so that no object in it has a field twice.
 *
 * @returns a promise only for a large request, or beside numbers that JavaScript cannot represent
 */
export function rewrittenRequest<Body extends object>({
  json,
  ...asSent
}: ClientRequest<Body>): ClientRequest<Body> | Promise<ClientRequest<Body>> {
  const written = convertedText(asSent, json, (body) => ({ ...body, ...asSent.edits }))
  const request = (of: string | Buffer) => ({ bytes: Buffer.from(of), text: String(of), json })
  return written instanceof Promise ? written.then(request) : request(written)
}

/**
 * Body of a request for the upstream: the client's own bytes, with `changes` set in them. A number that JavaScript cannot
 * represent (a 64-bit `seed`) keeps its text, also within a changed field, which is slower.
 *
 * @param request request of the client
 * @param changesOf fields to set in a body
 * @throws GazewayError `invalid_json` for a request nested too deeply to be serialized
 */
export function requestBody(
  request: ClientRequest<object>,
  changesOf: (body: object) => Readonly<Record<string, unknown>>,
): string | Buffer | Promise<string> {
  const { bytes, text, json, edits = NO_EDITS } = request
  const outline = outlineFor(request)
  const changes = changesOf(json)
  const set: Record<string, unknown> = { ...edits }
  for (const name of Object.keys(changes))
    if (Object.hasOwn(edits, name) || !isWritten(outline.members, json, name, changes[name])) set[name] = changes[name]
  if (outline.hasLargeNumber && Object.values(set).some(mayHoldNumbers))
    return exactText(text, (body) => ({ ...body, ...edits, ...changesOf(body) })).catch(refuseDepth)
  return readable(() => splicedJson(bytes, outline, set))
}

/** The outline of a request, which its reader may have made before. */
const outlineFor = ({ text, outline }: Pick<ClientRequest<object>, 'text' | 'outline'>): JsonOutline =>
  outline?.() ?? outlineOf(text)

/**
 * The text of a request, or its bytes as latin1, in which signs and words in ASCII are the same. A large text beyond ASCII
 * is decoded as a whole only where it has to be, because that would take longer than others may wait.
 */
export const asciiOf = ({ bytes, text, outline }: Omit<ClientRequest<unknown>, 'json'>): string =>
  bytes.length > LARGE_JSON ? (outline?.().letters ?? text) : text

const NO_EDITS: Readonly<Record<string, unknown>> = {}

/** Tells whether a request has a value already, under a name without escapes. */
function isWritten(members: readonly JsonMember[], json: object, name: string, value: unknown): boolean {
  if ((json as Record<string, unknown>)[name] !== value) return false
  return members.every((member) => member.name !== name || member.isPlain)
}

/** Most levels of a request that is converted: its answer may repeat parts of it, and would fail when it is paid for. */
const MOST_LEVELS = 2500

/** Tells whether a value may hold numbers of the client. */
const mayHoldNumbers = (value: unknown): boolean =>
  typeof value === 'number' ? !Number.isSafeInteger(value) : typeof value === 'object' && value !== null

/**
 * Serializes a converted request, with the numbers of the original text. A large one is written in turns with other work.
 *
 * @param sent result of `convert` for the client's request
 * @param convert must not touch a number that JavaScript cannot represent; an object represents it
 * @param size approximate size of `sent` as JSON, where it is much longer than the client's request
 * @throws GazewayError `invalid_json` for a request nested too deeply
 */
export function convertedText(
  request: Pick<ClientRequest<object>, 'text' | 'outline'>,
  sent: object,
  convert: (body: object) => object,
  size = request.text.length,
): string | Promise<string | Buffer> {
  const { hasLargeNumber, levels } = outlineFor(request)
  if (levels > MOST_LEVELS) refuseDepth(new RangeError(`${levels} levels`))
  if (hasLargeNumber) return exactText(request.text, convert).catch(refuseDepth)
  if (size > LARGE_JSON) return stringifyInTurns(sent).catch(refuseDepth)
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

function refuseDepth(cause: unknown): never {
  if (!(cause instanceof RangeError)) throw cause
  throw new GazewayError('invalid_json', 'The body is nested too deeply; at most a few thousand levels are allowed.', {
    cause,
  })
}

const loadLosslessJson = lazily(() => import('lossless-json'))

/**
 * Serializes what `convert` makes of a JSON text, with the numbers of that text.
 *
 * @param convert must not touch a number that JavaScript cannot represent; an object represents it
 */
export async function exactText(text: string, convert: (body: object) => object): Promise<string> {
  const [{ stringify }, exact] = await Promise.all([loadLosslessJson(), parseExact(text)])
  return stringify(convert(exact)) ?? ''
}

/** Parses a JSON text. An object represents each number that JavaScript cannot. */
export async function parseExact(text: string): Promise<object> {
  const { isSafeNumber, LosslessNumber, parse } = await loadLosslessJson()
  return parse(text, null, {
    parseNumber: (number) => (isSafeNumber(number) ? Number(number) : new LosslessNumber(number)),
    // The last of two equal keys counts, as in JSON.parse.
    onDuplicateKey: ({ newValue }) => newValue,
  }) as object
}
