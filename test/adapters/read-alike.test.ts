import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { type GeminiDouble, KEY, MODEL, startGemini } from '../doubles/gemini.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const KIB = 1024
/** Lengths around those from which a body is read in another way. */
const LENGTHS = [300, ...[64, 256, 512, 1024].flatMap((kib) => [kib * KIB - 1, kib * KIB, kib * KIB + 1])]
/** Letters of two to four bytes, of which one has a blank of latin1 in it, and escapes. */
const LETTERS = ['é', 'à', '€', '\u2028', '😀', '\\ud800', '\\u00e9', '\\"', '\\\\'] as const

/** Endings of a body, behind its last field, that readers of JSON take in different ways. */
const ENDINGS = [
  ...['}', ' }\n', ',"model":"UP/other"}', ',"mod\\u0065l":"UP/other"}', ',"model":"UP/other","model":"UP/alias"}'],
  ...[',"__proto__":{"model":"a"},"constructor":{"name":1}}', ',"model ":"a","model\\u0000":"a"}'],
  ...[',"x":9007199254740993,"y":1E400,"z":-0.0}', ',"x":1,"x":12345678901234567890}', ',"x":"\\ud83d\\ude00\\udc00"}'],
  ...[',"x":[{"model":"a","model":"b"}]}', ',"x":"\u2028\u0085\u007f"}'],
  ...[',}', ',"x":NaN}', ',"x":Infinity}', ',"x":01}', ',"x":+1}', ',"x":.5}', ',"x":1.}', ',"x":0x10}', ',"x":1e}'],
  ...[",'x':1}", ',x:1}', ',"x":True}', ',"x":1/* */}', '}// x', '} {}', '}{"model":"a"}', '},{}', '}]', '', ',"x":"'],
  ...['}\0', '}\u00a0', '}\ufeff', '}\v', '}\u0085', ',"x":"\t"}', ',"x":"\0"}', ',"x":"\\x41"}', ',"x":"\\u00g0"}'],
  ...[',"x":"\\"}', ',"x":[1,,2]}', ',"x":[1,]}', ',"x":{"a"}}', ',"x" "y"}', ',"x"::1}', ',,"x":1}', ',"x":1]'],
].map((ending) => Buffer.from(ending))
/** Bytes that are no UTF-8: half of a pair, a quote that is too long, a letter that breaks off, one above the last. */
const NO_UTF8 = ['eda080', 'c0a2', 'e282', 'f4908080', 'ff'].map((hex) => Buffer.from(`2c2278223a22${hex}227d`, 'hex'))

/** Doors of models: path, name of the upstream, and a body whose TEXT is long. */
const DOORS = [
  ['/v1/chat/completions', 'own', '"model":"own/alias","messages":[{"role":"user","content":"TEXT"}]'],
  ['/v1/responses', 'own', '"model":"own/alias","store":false,"input":[{"role":"user","content":"TEXT"}]'],
  ['/v1/messages', 'claude', '"model":"claude/alias","max_tokens":9,"messages":[{"role":"user","content":"TEXT"}]'],
  ['/v1beta/models/google/nimble:generateContent', 'google', '"contents":[{"role":"user","parts":[{"text":"TEXT"}]}]'],
] as const

/** Reads a body as JSON.parse does. @returns undefined for one that is no JSON, or no UTF-8 */
function meant(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** A body of a length, as far as its parts fit: filled with a letter, and with blanks where that does not fit. */
function bodyOf(fields: string, letter: string, length: number, ending: Buffer): Buffer {
  const [before = '', behind = ''] = fields.split('TEXT')
  const room = Math.max(0, length - Buffer.byteLength(`{${before}${behind}`) - ending.length)
  const width = Buffer.byteLength(letter)
  const text = letter.repeat(room / width) + ' '.repeat(room % width)
  return Buffer.concat([Buffer.from(`{${before}${text}${behind}`), ending])
}

describe('a body is read by its upstream as it was read here, or by nobody', () => {
  let upstream: double.UpstreamDouble
  let google: GeminiDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Hi.')))
    upstream.on('/messages', double.json(200, message('Hi.')))
    const response = { id: 'resp_1', object: 'response', status: 'completed', output: [] }
    upstream.on('/responses', double.json(200, response))
    google = await startGemini()
    const candidate = { content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP', index: 0 }
    google.on({ pieces: [{ candidates: [candidate] }] })
    const at = { base_url: upstream.url, api_keys: ['upstream-secret-key'], aliases: { alias: 'real' } }
    const upstreams = {
      own: { ...at, provider: 'openai' },
      claude: { ...at, provider: 'anthropic' },
      google: { provider: 'gemini', base_url: google.url, api_keys: [KEY], aliases: { nimble: MODEL } },
    }
    running = await startGateway(null, {}, { upstream: { provider: 'sandbox' }, upstreams })
  })
  after(async () => {
    await running.close()
    await upstream.close()
    await google.close()
  })

  /** Sends a body. @returns the status, and the texts that its upstream received */
  async function send(path: string, body: Buffer): Promise<[status: number, received: string[]]> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${running.key}` }
    const reply = await fetch(running.url + path, { method: 'POST', headers, body: new Uint8Array(body) })
    await reply.arrayBuffer()
    const received = [...upstream.received.splice(0), ...google.received.splice(0)]
    return [reply.status, received.map(({ text }) => text)]
  }

  async function requireAlike(path: string, body: Buffer): Promise<void> {
    const what = `${path}, ${body.length} bytes: ${body.subarray(0, 90)} … ${JSON.stringify(String(body.subarray(-60)))}`
    const expected = meant(body)
    const [status, [text, ...more]] = await send(path, body)
    assert.deepEqual([more, text === undefined], [[], expected === undefined], what)
    if (expected === undefined || text === undefined) return assert.equal(status, 400, what)
    const { model, ...read } = JSON.parse(text)
    const { model: asked, ...rest } = expected
    assert.ok(JSON.stringify(read) === JSON.stringify(rest), what)
    const isOfPath = path.includes(':')
    // Google refuses fields that it does not know.
    if (!isOfPath) assert.equal(status, 200, what)
    assert.equal(model, isOfPath ? undefined : String(asked).endsWith('/other') ? 'other' : 'real', what)
    // Once, and in no other spelling, which a reader may take for it: nothing of the last field is left out.
    const named = text.replace(/,"(?:x|__proto__)":.*$/s, '').match(/"mod(?:e|\\u0065)l"\s*:/g) ?? []
    assert.equal(named.length, isOfPath ? 0 : 1, what)
  }

  for (const [path, name, fields] of DOORS)
    it(`at ${path}`, async () => {
      let turn = 0
      const next = () => {
        const [letter, length] = [LETTERS[turn % LETTERS.length] ?? '', LENGTHS[turn % LENGTHS.length] ?? 0]
        turn++
        return { letter, length }
      }
      for (const ending of [...ENDINGS, ...NO_UTF8]) {
        const { letter, length } = next()
        const named = Buffer.from(ending.toString('latin1').replaceAll('UP/', `${name}/`), 'latin1')
        await requireAlike(path, bodyOf(fields, letter, length, named))
      }
      for (const length of LENGTHS) {
        const body = bodyOf(fields, '€', length, Buffer.from('}'))
        await requireAlike(path, Buffer.concat([Buffer.from('\ufeff'), body]))
      }
    })

  it('is converted with all of its letters', async () => {
    const [, , messages] = DOORS[2]
    for (const [at, length] of LENGTHS.entries()) {
      const body = bodyOf(
        messages.replace('claude/', 'own/'),
        LETTERS[at % LETTERS.length] ?? '',
        length,
        Buffer.from('}'),
      )
      const [status, [text = '']] = await send('/v1/messages', body)
      const read = (json: string) => JSON.parse(json).messages[0].content
      assert.deepEqual(
        [status, JSON.stringify(read(text)) === JSON.stringify(read(String(body)))],
        [200, true],
        String(length),
      )
    }
  })
})
