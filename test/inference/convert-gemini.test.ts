import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LosslessNumber } from 'lossless-json'
import { exactJson } from '../../src/inference/convert/exact-json.ts'
import { withWritten, writtenJson } from '../../src/inference/convert/gemini-json.ts'
import { namedAsDocumented } from '../../src/inference/convert/gemini-names.ts'
import { toChatFromGemini } from '../../src/inference/convert/gemini-to-chat.ts'
import { carriedMedia } from '../../src/inference/observe/carried-media.ts'
import { fromBase64, toBase64 } from '../../src/inference/reasoning/seal.ts'

type Fields = Record<string, unknown>

const text = fc.constantFrom(' ', 'Look at it.', 'über 1e400', '{"a": 1}', 'Error: no')
const step = fc.record({
  thought: fc.boolean(),
  said: text,
  calls: fc.array(
    fc.record({
      args: fc.dictionary(fc.constantFrom('b', 'file_path', '2'), fc.oneof(fc.integer(), text)),
      result: fc.oneof(
        text.map((output) => ({ output })),
        text.map((error) => ({ error })),
        fc.record({ a_b: fc.integer(), c: text }),
      ),
      hasId: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  asked: fc.array(text, { maxLength: 2 }),
})
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
const conversation = fc.array(step, { minLength: 1, maxLength: 4 })

const IMAGE = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }
const LINK = { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } }

/** A request of Google's API with the steps of a conversation. */
function requestOf(steps: readonly Step[]): Fields {
  const turns = steps.flatMap(({ thought, said, calls, asked }, turn) => {
    const id = (index: number, hasId: boolean) => (hasId ? { id: `id_${turn}_${index}` } : {})
    const called = calls.map(({ args, hasId }, index) => ({
      functionCall: { ...id(index, hasId), name: 'look', args },
    }))
    const results = calls.map(({ result, hasId }, index) => ({
      functionResponse: { ...id(index, hasId), name: 'look', response: result },
    }))
    const words = asked.map((one) => ({ text: one }))
    const thoughts = thought ? [{ text: `thought ${turn}`, thought: true }] : []
    return [
      { role: 'model', parts: [...thoughts, { text: said }, ...called] },
      { role: 'user', parts: [...results, ...words, IMAGE, LINK, { text: `Turn ${turn}.` }] },
    ]
  })
  const schema = { type: 'OBJECT', properties: { b: { type: 'STRING' }, a: { type: 'NUMBER' } } }
  return {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user', parts: [{ text: 'Begin.' }] }, ...turns],
    tools: [{ functionDeclarations: ['zulu', 'look'].map((name) => ({ name, parameters: schema })) }],
  }
}

/** A request in the other spelling of its names, those of the client left as they are. */
function underscored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(underscored)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      ['args', 'response', 'parameters'].includes(name) ? member : underscored(member),
    ]),
  )
}

/** Texts, addresses and numbers of a conversation, as they are to arrive. */
const contentsOf = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ said, calls, asked }) => [
    said,
    ...asked,
    ...calls.flatMap(({ args, result }) => [...Object.entries(args), ...Object.entries(result)].flat().map(String)),
  ])

describe('Conversations of Google’s API as chat completions', () => {
  it('begin with the same bytes in the next request', () => {
    fc.assert(
      fc.property(conversation, step, (steps, next) => {
        const before = toChatFromGemini(requestOf(steps)).messages
        const after = toChatFromGemini(requestOf([...steps, next])).messages
        assert.equal(JSON.stringify(after.slice(0, before.length)), JSON.stringify(before))
      }),
      { numRuns: 100 },
    )
  })

  it('keep every text, address, id and number, or name it', () => {
    fc.assert(
      fc.property(conversation, (steps) => {
        const noted: string[] = []
        const request = requestOf(steps)
        const { messages, tools } = toChatFromGemini(request, (field) => void noted.push(field))
        // Arguments are a text within the text.
        const sent = JSON.stringify(messages).replaceAll('\\\\\\"', '"').replaceAll('\\"', '"')
        const kept = ['error', 'output']
        for (const one of contentsOf(steps))
          if (!kept.includes(one))
            assert.ok(sent.includes(JSON.stringify(one).slice(1, -1).replaceAll('\\"', '"')), one)
        for (const one of [LINK.fileData.fileUri, IMAGE.inlineData.data]) assert.ok(sent.includes(one), one)
        const thoughts = steps.flatMap(({ thought }, turn) => (thought ? [`contents.${1 + turn * 2}.parts.0`] : []))
        assert.deepEqual(noted, thoughts)
        const calls = messages.flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : []))
        const results = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []))
        assert.deepEqual(results.toSorted(), calls.map(({ id }) => id).toSorted())
        assert.deepEqual(
          tools?.map((tool) => 'function' in tool && tool.function.name),
          ['zulu', 'look'],
        )
      }),
      { numRuns: 100 },
    )
  })

  it('are the same in both spellings of their names', () => {
    fc.assert(
      fc.property(conversation, (steps) => {
        const request = requestOf(steps)
        assert.deepEqual(namedAsDocumented(underscored(request) as object), request)
        assert.equal(namedAsDocumented(request), request)
      }),
      { numRuns: 50 },
    )
  })

  it('take schemas of OpenAPI, and names that chat completions does not', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { type: { type: 'STRING', enum: ['a'], nullable: true }, many: { type: 'ARRAY', min_items: '1' } },
      propertyOrdering: ['type'],
    }
    const { tools } = toChatFromGemini({
      contents: [{ parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'server.look:at', parameters }] }],
    })
    const [tool] = tools as { function: { name: string; parameters: unknown } }[]
    assert.match(tool?.function.name ?? '', /^server_look_at_[\da-f]{8}$/)
    assert.deepEqual(tool?.function.parameters, {
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['a', null] },
        many: { type: 'array', minItems: 1 },
      },
    })
  })

  it('carry recordings, also in the results of functions', () => {
    const inlineData = { mimeType: 'audio/wav', data: 'AAAA' }
    const result = { name: 'listen', response: {}, parts: [{ inlineData }] }
    for (const part of [{ inlineData }, { functionResponse: result }, { function_response: result }]) {
      const request = { contents: [{ role: 'user', parts: [part] }] }
      assert.deepEqual([...carriedMedia('/generateContent', request)], ['audio'])
      assert.match(JSON.stringify(toChatFromGemini(namedAsDocumented(request))), /"input_audio"/)
    }
    const silent = { contents: [{ parts: [{ functionResponse: { ...result, parts: [] } }] }] }
    assert.deepEqual([...carriedMedia('/generateContent', silent)], [])
  })

  it('keep texts that look like the places of numbers', () => {
    const [mark, args] = ['a"\u00010\u0001', { at: 1 }]
    const written = withWritten({ text: mark, args: writtenJson('{"at":12345678901234567890}') })
    assert.equal(written, `{"text":${JSON.stringify(mark)},"args":{"at":12345678901234567890}}`)
    const exact = exactJson({ at: new LosslessNumber('12345678901234567890'), text: mark, args })
    assert.equal(exact, `{"at":12345678901234567890,"text":${JSON.stringify(mark)},"args":{"at":1}}`)
  })

  it('bring back seals whose clients have decoded them and encoded them for addresses', () => {
    const sealed = 'gws1.key_1-x.AbC-_9'
    const again = Buffer.from(toBase64(sealed), 'base64').toString('base64url')
    assert.deepEqual([fromBase64(toBase64(sealed)), fromBase64(again), fromBase64('other')], [sealed, sealed, 'other'])
  })
})
