import { GazewayError } from '../../../src/errors.ts'
import type { ModelBody } from '../../../src/inference/admit/admit.ts'
import { continuedRequest, type Items } from '../../../src/inference/continue/continued-request.ts'
import { type ClientRequest, convertedText } from '../../../src/inference/relay/request-body.ts'
import { isObject, parseJson } from '../../../src/text/json.ts'
import { type JsonMember, outlineOf } from '../../../src/text/json-members.ts'
import { splicedJson } from '../../../src/text/json-splice.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import { decodeInTurns } from '../../../src/wire/large-text.ts'
import { parseJsonBytes } from '../../web/json-body.ts'

/** Request of a message: the body that `POST /v1/responses` would have. */
export interface SocketRequest extends ClientRequest<ModelBody> {
  /** False for a request that only prepares the next one. */
  generates: boolean
  /** False where JavaScript has lost digits of a number in the input of `json`. */
  isExact: boolean
}

/** Fields of the message that a body over HTTP lacks, and the one that it must have. */
const AS_OVER_HTTP = { type: undefined, generate: undefined, stream_id: undefined, background: undefined, stream: true }
/** Size of the largest acknowledgement, in bytes. */
const LARGEST_ACKNOWLEDGEMENT = 1024

/** Tells whether a message acknowledges a response, as Codex does. It needs no answer. */
export const isAcknowledgement = (message: Buffer): boolean =>
  message.length <= LARGEST_ACKNOWLEDGEMENT && fieldsOrNone(parseJson(String(message))).type === 'response.processed'

/**
 * Reads a message. Its own bytes are kept, because JavaScript may lose digits of its numbers.
 *
 * @throws GazewayError `invalid_json`, `validation_failed`
 */
export async function readMessage(message: Buffer): Promise<SocketRequest> {
  const { json, outline } = await parseJsonBytes(message)
  if (!isObject(json)) throw new GazewayError('invalid_json', 'The message is not a JSON object.')
  const { type, generate, stream_id: _, background: __, ...body } = json
  if (type !== 'response.create')
    throw new GazewayError('validation_failed', 'type: must be response.create.', { param: 'type' })
  const { letters, members, hasLargeNumber } = outline()
  const bytes = splicedJson(message, { letters, members }, AS_OVER_HTTP)
  return {
    bytes,
    text: (await decodeInTurns(bytes)) ?? String(bytes),
    json: { ...body, stream: true },
    generates: generate !== false,
    isExact: !hasLargeNumber || !members.some((member) => member.name === 'input' && hasLarge(letters, member)),
  }
}

const hasLarge = (letters: string, { from, to }: JsonMember): boolean =>
  outlineOf(`{"input":${letters.slice(from, to)}}`).hasLargeNumber

/**
 * Writes the conversation that a request continues into its input.
 *
 * @param size estimated bytes of both
 * @throws GazewayError `invalid_json` for a request nested too deeply
 */
export async function continuedMessage(request: SocketRequest, items: Items, size: number): Promise<SocketRequest> {
  const { json, generates, isExact } = request
  const whole = continuedRequest(json, items)
  const written = await convertedText(request, whole, (body) => continuedRequest({ ...body }, items), size)
  return { bytes: Buffer.from(written), text: String(written), json: whole, generates, isExact }
}
