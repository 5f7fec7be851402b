import { createHash, createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type CloudAsked, type CloudReply, startCloudServer } from './cloud-server.ts'

export const KEYS = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
export const MODEL = 'global.anthropic.claude-opus-5-5'
/** A small one, whose id has its date and version. */
const SMALL_MODEL = 'global.anthropic.claude-haiku-4-5-20251001-v1:0'
export const BEARER = 'bedrock-api-key-of-the-tests'
const REGION = 'us-east-1'
const TOLERATED_MS = 5 * 60_000

const MESSAGE = {
  id: 'msg_bdrk_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
}
const EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

const refused = (status: number, type: string, message: string, date = new Date()): CloudReply => ({
  status,
  body: { message },
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/`, date: date.toUTCString() },
})

const sha = (data: Buffer | string) => createHash('sha256').update(data).digest('hex')
const mac = (key: Buffer | string, data: string) => createHmac('sha256', key).update(data).digest()

/** The signature that a request must have, written out by the steps of the documentation. */
function signatureOf({ method, url, headers, body }: CloudAsked, names: string, time: string): string {
  const path = url.pathname
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('*', '%2A'))
    .join('/')
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = `${method}\n${path}\n\n${lines.join('')}\n${names}\n${sha(body)}`
  const date = time.slice(0, 8)
  const key = mac(mac(mac(mac(`AWS4${KEYS.secret}`, date), REGION), 'bedrock'), 'aws4_request')
  const text = `AWS4-HMAC-SHA256\n${time}\n${date}/${REGION}/bedrock/aws4_request\n${sha(canonical)}`
  return mac(key, text).toString('hex')
}

/** A frame of an event stream. The value `true` is a header without a text. */
export function frame(names: Record<string, string>, payload: object | string): Buffer {
  const headers = Buffer.concat(
    Object.entries(names).map(([name, value]) => {
      if (value === 'true') return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([0])])
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  const head = Buffer.alloc(12)
  head.writeUInt32BE(16 + headers.length + body.length)
  head.writeUInt32BE(headers.length, 4)
  head.writeUInt32BE(crc32(head.subarray(0, 8)), 8)
  const all = Buffer.concat([head, headers, body])
  const end = Buffer.alloc(4)
  end.writeUInt32BE(crc32(all))
  return Buffer.concat([all, end])
}

/** Amazon Bedrock in one region, which refuses what the real one does. */
export async function startBedrock() {
  const state = { asked: [] as CloudAsked[], skewMs: 0, isOverloaded: false, session: null as string | null }

  function faultOf(asked: CloudAsked): CloudReply | null {
    const { headers } = asked
    if (headers.authorization === `Bearer ${BEARER}`) return null
    const now = new Date(Date.now() + state.skewMs)
    const [, id, , region, names = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w{64})$/.exec(
        headers.authorization ?? '',
      ) ?? []
    const time = String(headers['x-amz-date'] ?? '')
    if (id === undefined || time === '')
      return refused(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token')
    if (id !== KEYS.id)
      return refused(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.')
    if (region !== REGION)
      return refused(403, 'InvalidSignatureException', 'Credential should be scoped to a valid region.')
    const sent = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (Math.abs(sent - now.getTime()) > TOLERATED_MS)
      return refused(
        403,
        'InvalidSignatureException',
        `Signature expired: ${time} is now earlier than the time (5 min.)`,
        now,
      )
    if (state.session !== null && headers['x-amz-security-token'] !== state.session)
      return refused(403, 'ExpiredTokenException', 'The security token included in the request is expired')
    if (signatureOf(asked, names, time) === signature) return null
    return refused(
      403,
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    )
  }

  const server = await startCloudServer((asked) => {
    const fault = faultOf(asked)
    if (fault !== null) return fault
    state.asked.push(asked)
    const [, model = '', method] =
      /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/.exec(asked.url.pathname) ?? []
    const json = JSON.parse(asked.body.toString() || '{}')
    if (method === undefined) return refused(404, 'UnknownOperationException', 'Unknown operation')
    if (![MODEL, SMALL_MODEL].includes(decodeURIComponent(model)))
      return refused(400, 'ValidationException', 'The provided model identifier is invalid.')
    for (const field of ['model', 'stream'])
      if (field in json) return refused(400, 'ValidationException', `${field}: Extra inputs are not permitted`)
    if (json.anthropic_version !== 'bedrock-2023-05-31')
      return refused(400, 'ValidationException', 'anthropic_version: Field required')
    if (method === 'invoke') return { status: 200, body: MESSAGE }
    const event = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' }
    const chunks = EVENTS.map((one) =>
      frame(event, { bytes: Buffer.from(JSON.stringify(one)).toString('base64'), p: 'abc' }),
    )
    const exception = frame(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      { message: 'Too many tokens.' },
    )
    const body = Buffer.concat(state.isOverloaded ? [...chunks.slice(0, 3), exception] : chunks)
    return { status: 200, body, headers: { 'content-type': 'application/vnd.amazon.eventstream' } }
  })
  return { ...server, state }
}
