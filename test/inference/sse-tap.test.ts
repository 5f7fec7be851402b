import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventData } from '../../src/inference/observe/event-data.ts'
import { newOutputTimes } from '../../src/inference/observe/output-times.ts'
import { createSseTap } from '../../src/inference/observe/sse-tap.ts'
import { splitEvents } from '../../src/wire/whole-sse-events.ts'
import { chunks, failedChoices, failedChunks } from '../doubles/upstream.ts'

const KB = 1024
const MB = 1024 * KB
/** Four times the bytes may cost four times as much, and some; by the square it would be sixteen times. */
const LINEAR = 9

const newTap = () => createSseTap({ dropUsageChunk: true, secrets: [] })
const line = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`
const pieces = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))

/** The CPU time of a piece of work in ms: the least of several, as other work only ever adds to it. */
function cpuOf(work: () => void): number {
  const times = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

describe('a tap tells of the last events', () => {
  const chunk = (delta: object, more: object = {}) =>
    line({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })
  const cases: Record<string, [string, boolean]> = {
    'text is plain': [chunk({ content: 'say reasoning, tool_calls and usage' }), true],
    'text beside empty reasoning is plain': [chunk({ content: 'a', reasoning_content: '', reasoning: null }), true],
    'reasoning is not': [chunk({ reasoning_content: 'think' }), false],
    'details of reasoning are not': [chunk({ reasoning_details: [{ text: 'think' }] }), false],
    'blocks of thinking are not': [chunk({ thinking_blocks: [] }), false],
    'a signature is not': [chunk({ extra_content: { google: {} } }), false],
    'a call is not': [chunk({ tool_calls: [{ index: 0 }] }), false],
    'a finish is not': [chunk({}, { finish_reason: 'stop' }), false],
    'an error is not': [line({ error: { message: 'no' } }), false],
    'the end is not': ['data: [DONE]\n\n', false],
  }
  for (const [title, [event, isPlain]] of Object.entries(cases))
    it(title, () => {
      const tap = newTap()
      tap.push(Buffer.from(isPlain ? line({ error: {} }) : chunk({ content: 'a' })))
      tap.push(Buffer.from(event))
      assert.equal(tap.isPlain(), isPlain)
    })
})

describe('a tap notes when thoughts and text begin', () => {
  const chunk = (delta: object) => line({ choices: [{ index: 0, delta, finish_reason: null }] })
  const block = (delta: object) => line({ type: 'content_block_delta', index: 0, delta })
  const part = (of: object) => line({ candidates: [{ content: { parts: [of] } }] })
  const asked = { instructions: 'Say "content":"x".', text: { format: { type: 'text' } }, tools: [], output: [] }
  /** Events before the thoughts, thoughts, and text or a call, by the API. */
  const streams: Record<string, [string, string, string]> = {
    'chat completions': [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '', reasoning_content: 'Hm.' }),
      chunk({ content: 'Hi', reasoning_content: null }),
    ],
    'chat completions with details': [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '', reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }] }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '' } }] }),
    ],
    'chat completions with details whose type comes last, beside a call': [
      chunk({ role: 'assistant', content: null, tool_calls: [] }),
      chunk({ content: '', tool_calls: null, reasoning_details: [{ text: 'Hm.', type: 'reasoning.text' }] }),
      chunk({
        reasoning_details: [{ data: 'x', type: 'reasoning.encrypted' }],
        tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '' } }],
      }),
    ],
    'chat completions with parts': [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Well.' }] },
          { type: 'text', text: 'Hi' },
        ],
      }),
    ],
    messages: [
      line({ type: 'message_start', message: { role: 'assistant', content: [], usage: { input_tokens: 9 } } }),
      block({ type: 'thinking_delta', thinking: 'Hm.' }),
      block({ type: 'text_delta', text: 'Hi' }),
    ],
    responses: [
      line({ type: 'response.created', response: asked }),
      line({ type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', summary: [] } }),
      line({ type: 'response.output_text.delta', output_index: 1, delta: 'Hi' }),
    ],
    'responses that call': [
      line({ type: 'response.in_progress', response: asked }),
      line({ type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Hm.' }),
      line({ type: 'response.function_call_arguments.delta', output_index: 1, delta: '{' }),
    ],
    gemini: [
      part({ text: '' }),
      part({ text: 'Hm.', thought: true }),
      part({ functionCall: { name: 'look', args: {} } }),
    ],
  }
  for (const [api, events] of Object.entries(streams))
    it(`in ${api}`, () => {
      const times = newOutputTimes()
      const tap = createSseTap({ dropUsageChunk: false, secrets: [], times })
      const seen = events.map((event) => {
        tap.push(Buffer.from(event))
        return [times.firstThought !== null, times.firstText !== null]
      })
      const [began, thought, text] = [
        [false, false],
        [true, false],
        [true, true],
      ]
      assert.deepEqual(seen, [began, thought, text])
      const { firstText } = times
      for (const event of events) tap.push(Buffer.from(event))
      assert.equal(times.firstText, firstText, 'the first alone')
    })
})

describe('events that arrive in pieces', () => {
  for (const [name, end] of [
    ['LF', '\n\n'],
    ['CRLF', '\r\n\r\n'],
    ['both', '\n\r\n'],
    ['CR', '\r\r'],
  ] as const)
    it(`end where their blank line does, with ${name}, whichever pieces it comes in`, () => {
      const [first, second] = [`data: {"n":1}${end}`, `data: {"n":2}${end}`]
      const bytes = Buffer.from(first + second)
      for (let from = 1; from < bytes.length; from++)
        for (let to = from; to < bytes.length; to++) {
          const tap = newTap()
          let [arrived, passed] = [0, '']
          for (const piece of [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)]) {
            arrived += piece.length
            passed += tap.push(piece)?.toString() ?? ''
            const ended = arrived < first.length ? '' : first
            assert.equal(passed, arrived < bytes.length ? ended : first + second, `cut at ${from} and ${to}`)
          }
        }
    })

  it('pass as they are, byte by byte', () => {
    const bytes = Buffer.from(
      `: a comment\n\n${line({ n: 1 })}${line({ n: 2 }).replaceAll('\n', '\r\n')}data: [DONE]\n\n`,
    )
    const tap = newTap()
    const passed = pieces(bytes, 1).map((piece) => tap.push(piece)?.toString() ?? '')
    assert.equal(passed.join(''), bytes.toString())
    assert.equal(tap.ending().done, true)
  })

  it('cost time by their size, a large one too', () => {
    const cost = (size: number) => {
      const written = pieces(Buffer.from(line({ partial_image_b64: 'A'.repeat(size) })), 8 * KB)
      return cpuOf(() => {
        const tap = newTap()
        const passed = written.flatMap((piece) => tap.push(piece) ?? [])
        assert.equal(passed.length, 1)
      })
    }
    cost(2 * MB)
    const ratio = cost(8 * MB) / cost(2 * MB)
    assert.ok(ratio < LINEAR, `8 MB cost ${ratio.toFixed(1)} times as much as 2 MB`)
  })

  it('cost time by their number when many arrive at once', () => {
    const cost = (size: number) => {
      const event = line({ n: 1 })
      const bytes = Buffer.from(event.repeat(size / event.length))
      return cpuOf(() => assert.equal(splitEvents(bytes).length, bytes.length / event.length))
    }
    cost(256 * KB)
    const ratio = cost(1024 * KB) / cost(256 * KB)
    assert.ok(ratio < LINEAR, `1 MB cost ${ratio.toFixed(1)} times as much as 256 KB`)
  })
})

describe('what a model said', () => {
  const chunk = (...deltas: unknown[]) => line({ choices: deltas.map((delta, index) => ({ index, delta })) })
  const generated = (...events: string[]) => {
    const tap = newTap()
    for (const event of events) tap.push(Buffer.from(event))
    return tap.generated().text
  }

  for (const field of ['content', 'reasoning_content', 'reasoning', 'refusal'])
    it(`is its ${field}`, () => {
      assert.equal(generated(chunk({ [field]: 'Hm, ' }), chunk({ [field]: 'well.' })), 'Hm, well.')
    })

  it('is a thought once that comes under two names, then the answer', () => {
    const thought = { reasoning: 'Hm.', reasoning_content: 'Hm.', content: null, refusal: null }
    const answer = { reasoning_content: '', content: '4' }
    assert.equal(generated(chunk(thought), chunk(answer)), 'Hm.4')
  })

  it('is in parts with some providers, and in each of several choices', () => {
    assert.equal(generated(chunk({ content: [{ type: 'text', text: '4' }] })), '[{"type":"text","text":"4"}]')
    assert.equal(generated(chunk({ content: 'one' }, { content: 'two' })), 'onetwo')
  })

  it('is the name and the arguments of a call, without the JSON that each piece repeats around them', () => {
    const piece = (said: object) => chunk({ tool_calls: [{ index: 0, function: said }] })
    const begun = chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'find' } }] })
    assert.equal(generated(begun, piece({ arguments: '{"q":' }), piece({ arguments: '"a"}' })), 'find{"q":"a"}')
    assert.equal(generated(piece({ name: 'find', arguments: { q: 'a' } })), 'find{"q":"a"}', 'arguments as an object')
    const custom = { index: 0, id: 'call_1', type: 'custom', custom: { name: 'run', input: 'ls' } }
    assert.equal(generated(chunk({ tool_calls: [custom] })), 'runls')
    assert.equal(generated(chunk({ function_call: { name: 'find', arguments: '{}' } })), 'find{}')
    assert.equal(generated(chunk({ tool_calls: null, function_call: null, content: 'No.' })), 'No.')
  })

  it('is nothing where a choice has no delta', () => {
    assert.equal(generated(line({ choices: [null, {}, { delta: null }] }), line({ choices: {} })), '')
  })

  it('is the same to the estimate, however long the request is that the events of a Response repeat', () => {
    const estimated = (words: number, instructions: string, end: string) => {
      const response = { id: 'resp_1', instructions, output: [] }
      const tap = newTap()
      const write = (event: object) => tap.push(Buffer.from(line(event)))
      write({ type: 'response.created', response })
      write({ type: 'response.queued', response })
      write({ type: 'response.in_progress', response })
      for (let n = 0; n < words; n++) write({ type: 'response.output_text.delta', delta: ' word' })
      write({ type: `response.${end}`, response })
      const { text, factor } = tap.generated()
      return (text.length / ' word'.length) * factor
    }
    for (const end of ['completed', 'incomplete', 'failed'])
      for (const words of [1, 100, 10_000]) {
        const short = estimated(words, 'Be short.', end)
        assert.ok(Math.abs(short - words) < words * 0.01, `${short} of ${words}`)
        assert.equal(estimated(words, 'a b '.repeat(20 * KB), end), short)
      }
  })

  it('is kept beside the events that repeat the request in one piece', () => {
    const response = { instructions: 'Be short.', output: [] }
    const delta = { type: 'response.output_text.delta', delta: 'I say "type":"response.created".' }
    const around = ['created', 'completed'].map((end) => line({ type: `response.${end}`, response }))
    assert.equal(generated(around.join(line(delta))), delta.delta)
    assert.equal(generated(line(delta)), delta.delta)
  })
})

describe('a stream that fails', () => {
  const failureOf = (...events: unknown[]) => {
    const tap = newTap()
    const passed = events.map((event) => tap.push(Buffer.from(line(event)))?.toString())
    const own = passed.map((event) => event?.replace(/^event: error\n.*\n\n/m, ''))
    assert.deepEqual(own, events.map(line), 'its client hears of it')
    return tap.failed()
  }

  for (const failed of failedChoices)
    it(`says so in a choice: ${JSON.stringify(failed)}`, () => {
      const fault = failureOf(...failedChunks(['Hel'], failed))
      assert.match(fault?.message ?? '', 'error' in failed ? /^The worker died\.$/ : /^its answer ended with \w+$/)
      assert.equal(fault?.code, 'error' in failed ? 502 : failed.finish_reason)
    })

  it('is none that only speaks of it, or ends otherwise', () => {
    const words = ['"error"', 'network_error', '"finish_reason": "error"', 'error']
    for (const finish_reason of ['stop', 'length', 'content_filter', 'tool_calls', '', null])
      assert.equal(
        failureOf(...chunks(words, null), { choices: [{ index: 0, delta: {}, finish_reason, error: null }] }),
        null,
      )
  })
})

describe('usage that is reported', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const report = JSON.stringify({ choices: [], usage })
  const tabbed = JSON.stringify({ choices: [], usage }, null, '\t')
  const spaced = report.replaceAll(':', ' : ')
  const lines = (text: string, end = '\n') => text.replaceAll(/^/gm, 'data: ').replaceAll('\n', end) + end + end
  const spellings = {
    'with white space around its colon': lines(spaced),
    'in several lines': lines(tabbed),
    'in several lines that end with CRLF': lines(tabbed, '\r\n'),
    'in several lines that end with CR': lines(tabbed, '\r'),
    'of a named event whose lines end with CR': `event: message\r${lines(report, '\r')}`,
    'in lines of a part each': lines(report.replaceAll(/(?<=[:{,])|(?=:)/g, '\n')),
    'without a space after the name of the field': `data:${report}\n\n`,
    'after a byte order mark': `\ufeff${lines(report)}`,
  }

  for (const [name, event] of Object.entries(spellings))
    it(`is read ${name}, and not passed on`, () => {
      for (const size of [1, event.length * 2]) {
        const tap = newTap()
        const passed = pieces(Buffer.from(event), size).flatMap((piece) => tap.push(piece) ?? [])
        assert.deepEqual(tap.usage(), usage)
        assert.equal(Buffer.concat(passed).toString(), '')
      }
    })

  const passedOf = (more: object, dropUsageChunk = true) => {
    const tap = createSseTap({ dropUsageChunk, secrets: [] })
    const passed = tap.push(Buffer.from(line({ id: 'c1', choices: [], usage, ...more })))
    assert.deepEqual(tap.usage(), usage)
    return passed && eventData(passed)
  }

  it('is left out of a chunk that says more, which is passed on', () => {
    for (const more of [{ citations: ['https://a.b'] }, { search_results: [{ url: 'https://a.b' }] }, { cached: 0 }])
      for (const choices of [[], null, undefined])
        assert.deepEqual(passedOf({ ...more, choices }), { id: 'c1', choices: [], ...more })
    const citations = ['https://a.b']
    assert.deepEqual(passedOf({ citations }, false), { id: 'c1', choices: [], usage, citations }, 'unless it is wanted')
  })

  for (const [provider, more] of Object.entries({
    OpenAI: { service_tier: 'default', system_fingerprint: 'fp_1', obfuscation: 'x7Yq' },
    OpenRouter: { provider: 'Fireworks' },
    Groq: { x_groq: { id: 'req_1', usage } },
    'llama.cpp': { timings: { predicted_ms: 120.5 } },
    Cerebras: { time_info: { total_time: 0.1 } },
    'others, in fields without anything': { citations: [], stats: {}, error: null, note: '' },
  }))
    it(`is not passed on with what stands beside it of ${provider}`, () => {
      assert.equal(passedOf(more), null)
    })

  it('is read from an event without its blank line after a byte order mark', () => {
    const tap = newTap()
    assert.equal(tap.push(Buffer.from(`\ufeff${lines(report).trimEnd()}`)), null)
    assert.equal(tap.rest(), null)
    assert.deepEqual(tap.usage(), usage)
  })

  it('is read where the stream begins with a blank line, and a mark is part of what is said', () => {
    const tap = newTap()
    const blank = '\n\n'
    const generated = line({ choices: [{ delta: { content: '\ufeff' } }] })
    const passed = [blank, generated, lines(report)].map((text) => tap.push(Buffer.from(text))?.toString() ?? '')
    assert.deepEqual(passed, [blank, generated, ''])
    assert.deepEqual(tap.usage(), usage)
  })

  it('ends a choice with white space around its colon, too', () => {
    const tap = newTap()
    tap.push(Buffer.from(lines('{"choices":[{"delta":{},\n"finish_reason" : "stop"}]}')))
    assert.deepEqual(tap.ending(), { done: false, finished: true })
  })

  it('is finished by a reason at its place, not by one in the arguments of a call', () => {
    const words = { finishReason: 'STOP', finish_reason: 'stop', blockReason: 'SAFETY' }
    const piece = (args: object, more: object = {}) =>
      line({ candidates: [{ content: { parts: [{ functionCall: { name: 'note', args } }] }, ...more }] })
    const called = (args: string) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] })
    const cases: [string, boolean][] = [
      [piece({ ...words, candidates: [words], choices: [words], promptFeedback: words }), false],
      [line({ choices: [{ delta: called(JSON.stringify(words)) }] }), false],
      [line({ choices: [{ delta: {}, finish_reason: '' }] }), false],
      [piece(words) + piece({}, { finishReason: 'STOP' }), true],
      [line({ promptFeedback: { blockReason: 'SAFETY' } }), true],
      [line({ choices: [{ delta: called(JSON.stringify(words)), finish_reason: 'tool_calls' }] }), true],
    ]
    for (const [events, finished] of cases) {
      const tap = newTap()
      tap.push(Buffer.from(events))
      assert.equal(tap.ending().finished, finished, events)
    }
  })
})
