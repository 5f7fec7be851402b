import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { errorOf, eventsOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, post, records, sentBody } = await openGateway()

describe('what the fallback of POST /v1/responses is asked', () => {
  it('passes a request without input on, and gives its failure rather than ask for an empty chat', async () => {
    for (const asked of [{ prompt: { id: 'pmpt_1' } }, { previous_response_id: 'resp_0', input: null, model: null }]) {
      server.on('/responses', double.json(200, double.response('Found.')))
      assert.equal((await post('/v1/responses', asked)).status, 200)
      assert.deepEqual(sentBody(), { ...asked, model: 'llm-4.20-multi-agent-beta-0309' })
      server.on('/responses', double.fails(404))
      assert.equal((await errorOf(await post('/v1/responses', asked))).message, 'double says 404')
    }
    assert.ok(server.received.every((entry) => entry.path === '/v1/responses'))
  })

  const reference = { type: 'item_reference', id: 'msg_1' }
  for (const stored of [
    { previous_response_id: 'resp_0' },
    { conversation: 'conv_1' },
    { prompt: { id: 'pmpt_1' } },
    { input: [reference, { role: 'user', content: 'And then?' }] },
    { input: [{ id: 'msg_1' }, { role: 'user', content: 'And then?' }] },
    {
      input: [
        { type: 'compaction', encrypted_content: 'AAAA' },
        { role: 'user', content: 'And then?' },
      ],
    },
    {
      input: [
        { type: 'compaction_summary', encrypted_content: 'AAAA' },
        { role: 'user', content: 'And then?' },
      ],
    },
    {
      input: [
        { type: 'context_compaction', encrypted_content: 'AAAA' },
        { role: 'user', content: 'And then?' },
      ],
    },
  ])
    it(`gives the failure of a request that counts on what is stored: ${JSON.stringify(stored)}`, async () => {
      server.on('/responses', double.fails(500))
      server.on('/chat/completions', double.json(200, double.completion('From chat.')))
      for (const stream of [false, true]) {
        const reply = await post('/v1/responses', { ...QUESTION, ...stored, stream })
        assert.deepEqual([reply.status, (await errorOf(reply)).message], [500, 'double says 500'])
      }
      assert.ok(server.received.every((entry) => entry.path === '/v1/responses'))
    })

  describe('a stream that fails after searches and thoughts, before any text', () => {
    const made = { type: 'response.created', response: { ...double.response(''), status: 'in_progress', output: [] } }
    const search = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q' },
    }
    const thinking = { type: 'reasoning', id: 'rs_1', status: 'in_progress', summary: [] }
    const item = (type: 'added' | 'done', output_index: number, what: object) => ({
      type: `response.output_item.${type}`,
      output_index,
      item: what,
    })
    const thought = {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      output_index: 1,
      summary_index: 0,
      delta: 'Hm.',
    }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
    const numbered = (events: object[]) => events.map((event, sequence_number) => ({ ...event, sequence_number }))
    const searched = [made, item('added', 0, search), item('done', 0, search), item('added', 1, thinking), thought]
    const failed = {
      type: 'response.failed',
      response: { id: 'resp_1', error: { message: 'busy', code: 'overloaded' } },
    }
    const streamOf = async () => eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())

    for (const [how, events, end] of [
      ['breaks off', searched, 'break'],
      ['ends too early', searched, 'none'],
      ['reports a failure', [...searched, failed], 'none'],
      ['reports an error', [...searched, { type: 'error', message: 'busy', code: 'x' }], 'hang'],
    ] as const)
      for (const [what, chat] of [
        ['a stream', double.sse(double.chunks(['From ', 'chat.']))],
        ['one piece', double.json(200, double.completion('From chat.'))],
      ] as const)
        it(`goes on with the fallback's answer, in ${what}, where it ${how}`, async () => {
          server.on('/responses', double.sse(numbered([...events]), end))
          server.on('/chat/completions', chat)
          const told = await streamOf()
          assert.deepEqual(
            told.map(({ sequence_number }) => sequence_number),
            told.map((_, index) => index),
          )
          assert.equal(told.filter(({ type }) => type === 'response.created').length, 1)
          const cut = { ...thinking, status: 'incomplete', summary: [{ type: 'summary_text', text: 'Hm.' }] }
          assert.deepEqual({ ...told[5], sequence_number: 0 }, { ...item('done', 1, cut), sequence_number: 0 })
          const last = told.at(-1)
          assert.deepEqual(
            [last.type, last.response.id, last.response.status],
            ['response.completed', 'resp_1', 'completed'],
          )
          assert.deepEqual(last.response.output.slice(0, 2), [search, cut])
          assert.equal(last.response.output[2].content[0].text, 'From chat.')
          assert.equal(last.response.output_text, 'From chat.')
          const added = told.filter(({ type }) => type === 'response.output_item.added')
          assert.deepEqual(
            added.map((event) => [event.output_index, event.item.type]),
            [
              [0, 'web_search_call'],
              [1, 'reasoning'],
              [2, 'message'],
            ],
          )
          await until(async () => (await records()).length === 2)
          const [second, first] = await records()
          assert.equal(second?.fallback_from, first?.call_id)
          assert.deepEqual([first?.status, second?.status], ['error', 'ok'])
        })

    it('ends a message that was open, and a search, as not complete', async () => {
      const begun = { ...search, status: 'in_progress' }
      const events = [made, item('added', 0, begun), item('added', 1, message)]
      server.on('/responses', double.sse(numbered(events), 'break'))
      server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
      const { output } = (await streamOf()).at(-1).response
      assert.deepEqual(
        output.map(({ type, status }: { type: string; status: string }) => [type, status]),
        [
          ['web_search_call', 'failed'],
          ['message', 'incomplete'],
          ['message', 'completed'],
        ],
      )
    })

    it('ends with the first error where the fallback fails, too', async () => {
      server.on('/chat/completions', double.fails(500))
      for (const events of [searched, [...searched, failed]]) {
        server.on('/responses', double.sse(numbered(events), 'none'))
        const told = await streamOf()
        assert.equal(told.length, searched.length + 1)
        const { type, sequence_number } = told.at(-1)
        assert.deepEqual([type, sequence_number], ['error', searched.length])
      }
    })

    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c',
      name: 'look',
      arguments: '{}',
      status: 'completed',
    }
    const custom = {
      type: 'custom_tool_call',
      id: 'ct_1',
      call_id: 'c',
      name: 'patch',
      input: '',
      status: 'completed',
    }
    const text = {
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'Fo',
    }
    for (const [what, events] of [
      ['text', [made, item('added', 0, message), text]],
      ['a call of a function', [made, item('added', 0, call), item('done', 0, call)]],
      ["a call of the client's own tool", [made, item('added', 0, custom), item('done', 0, custom)]],
    ] as const)
      it(`is not continued after ${what}`, async () => {
        server.on('/responses', double.sse(numbered([...events, failed]), 'none'))
        server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
        const tools = [{ type: 'custom', name: 'patch' }]
        const told = eventsOf(await (await post('/v1/responses', { ...QUESTION, tools, stream: true })).text())
        assert.equal(told.at(-1).type, 'response.failed')
        assert.ok(server.received.every(({ path }) => path === '/v1/responses'))
      })
  })

  it('falls back when the omitted fields are not part of the question', async () => {
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('From chat.')))
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'AAAA' }
    const input = [reasoning, { type: 'item_reference', id: 'rs_2' }, { role: 'user', content: 'Find it.' }]
    const asked = { input, previous_response_id: null, conversation: null, prompt: null, store: true }
    assert.equal((await post('/v1/responses', asked)).headers.get('x-gazeway-route'), 'chat_fallback')
  })
})
