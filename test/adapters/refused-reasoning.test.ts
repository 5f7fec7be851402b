import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as refused from '../doubles/refused-reasoning.ts'
import * as strict from '../doubles/strict.ts'
import { claudeLike, deepSeekLike, geminiLike, THOUGHT } from '../doubles/thinking.ts'
import { type Behaviour, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
before(async () => {
  upstream = await startUpstream()
  const claude = { provider: upstream.url, api_keys: ['some-key-of-an-upstream'], protocol: 'anthropic' }
  running = await startGateway(upstream.url, {}, { upstreams: { claude } })
})
after(async () => {
  await running.close()
  await upstream.close()
})

const user = { role: 'user', content: 'Where is P-42?' }
const called = { id: 'call_1', type: 'function', function: { name: 'parcel_status', arguments: '{"parcel":"P-42"}' } }
const answer = (more: object = {}, call: object = called) => ({
  role: 'assistant',
  content: null,
  tool_calls: [call],
  ...more,
})
const chat = (message: object) => ({
  messages: [user, message, { role: 'tool', tool_call_id: 'call_1', content: 'x' }],
  tools: [{ type: 'function', function: { name: 'parcel_status', parameters: { type: 'object', properties: {} } } }],
})
const use = { type: 'tool_use', id: 'toolu_1', name: 'parcel_status', input: {} }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] }
const budget = { type: 'enabled', budget_tokens: 1024 }
const messages = (content: object[], more: object = {}) => ({
  max_tokens: 2000,
  messages: [user, { role: 'assistant', content }, result],
  tools: [{ name: 'parcel_status', input_schema: { type: 'object', properties: {} } }],
  ...more,
})
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAforeign' }
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'parcel_status', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'x' }

type Path = '/chat/completions' | '/messages' | '/responses'

/** Cases: the refused form, the upstream, what is changed, and whether it is known of the model from then on. */
const CASES: [string, Path, Behaviour, object, string, boolean][] = [
  ...(
    [
      ['a signature of another model', [refused.FOREIGN_BLOCK, use], 'messages.1.content.0=dropped, thinking=dropped'],
      ['an open turn without thinking', [use], 'thinking=dropped'],
    ] as const
  ).map(([what, content, changed]): (typeof CASES)[number] => [
    what,
    '/messages',
    claudeLike().behaviour,
    messages([...content], { thinking: budget }),
    changed,
    false,
  ]),
  [
    'a thinking budget',
    '/messages',
    refused.adaptiveAlone,
    messages([use], { thinking: budget }),
    'thinking=rewritten',
    true,
  ],
  [
    'an effort',
    '/messages',
    refused.noClaudeEffort,
    messages([use], { output_config: { effort: 'high' } }),
    'output_config.effort=dropped',
    true,
  ],
  [
    'thinking, and what is asked about it',
    '/messages',
    refused.noClaudeThinking,
    messages([use], { thinking: { type: 'adaptive' }, context_management: { edits: [] } }),
    'thinking=dropped, context_management=dropped',
    true,
  ],
  [
    'an answer without reasoning',
    '/chat/completions',
    deepSeekLike().behaviour,
    chat(answer()),
    'messages.1.reasoning_content=added',
    true,
  ],
  [
    'reasoning that comes back',
    '/chat/completions',
    strict.strictChat(strict.noReasoningBack),
    chat(answer({ reasoning_content: THOUGHT })),
    'messages.1.reasoning_content=dropped',
    true,
  ],
  [
    'reasoning with a signature of another',
    '/chat/completions',
    strict.strictChat(strict.ownDetails),
    chat(answer({ reasoning_details: [{ type: 'reasoning.text', text: THOUGHT, signature: 'x' }] })),
    'messages.1.reasoning_details=dropped',
    false,
  ],
  [
    'a call without a thought signature',
    '/chat/completions',
    geminiLike().behaviour,
    chat(answer()),
    'messages.1.tool_calls.0.extra_content=added',
    true,
  ],
  [
    'a call with the thought signature of another model',
    '/chat/completions',
    geminiLike().behaviour,
    chat(answer({}, { ...called, extra_content: { google: { thought_signature: 'foreign' } } })),
    'messages.1.tool_calls.0.extra_content=rewritten',
    false,
  ],
  [
    'reasoning_effort',
    '/chat/completions',
    strict.strictChat(strict.noEffort),
    { ...chat(answer()), reasoning_effort: 'high' },
    'reasoning_effort=dropped',
    true,
  ],
  [
    'reasoning_effort, in words about thinking',
    '/chat/completions',
    strict.strictChat(strict.noThinking),
    { ...chat(answer()), reasoning_effort: 'high' },
    'reasoning_effort=dropped',
    true,
  ],
  [
    'encrypted content of another account, with the ids that refer to it',
    '/responses',
    refused.openAiItems,
    { input: [user, reasoning, call, output] },
    'input.1=dropped, input.2.id=dropped',
    false,
  ],
  [
    'reasoning that was not stored, with the ids of the other items',
    '/responses',
    refused.storesNothing,
    {
      input: [
        user,
        { type: 'item_reference', id: 'rs_0' },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        call,
        output,
      ],
    },
    'input.1=dropped, input.2=dropped, input.3.id=dropped',
    false,
  ],
  [
    'reasoning that nothing follows',
    '/responses',
    refused.openAiItems,
    { input: [user, { ...reasoning, encrypted_content: 'own' }] },
    'input.1=dropped',
    false,
  ],
  [
    'a call whose reasoning is missing',
    '/responses',
    refused.openAiItems,
    { input: [user, call, output] },
    'input.1.id=dropped',
    false,
  ],
  [
    'reasoning.effort',
    '/responses',
    refused.noOpenAiEffort,
    { input: 'Hi', reasoning: { effort: 'high' } },
    'reasoning.effort=dropped',
    true,
  ],
]

describe('Reasoning that a model refuses', () => {
  for (const [index, [what, path, behaviour, body, changed, isRemembered]] of CASES.entries())
    it(`is mended, named, and remembered where it is the model's: ${what}`, async () => {
      upstream.on(path, behaviour)
      const asked = { model: `${path === '/messages' ? 'claude/' : ''}model-${index}`, ...body }
      for (const requests of [2, isRemembered ? 1 : 2]) {
        const before = upstream.received.length
        const reply = await fetch(`${running.url}/v1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
          body: JSON.stringify(asked),
        })
        assert.equal(reply.status, 200, await reply.text())
        assert.equal(reply.headers.get('x-gazeway-changed'), changed)
        assert.equal(upstream.received.length - before, requests)
      }
    })
})
