import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type CallSession, NO_SESSION } from '../../src/calls/call-session.ts'
import { sessionOf } from '../../src/inference/session/session.ts'

const ID = '4f9f0b6e-8a07-4f3c-9d5e-0c7e5a1d2b3c'
const OTHER = '0a1b2c3d-0000-4f3c-9d5e-0c7e5a1d2b3c'
const TURN = JSON.stringify({ session_id: ID, thread_id: OTHER, turn_id: 'turn-7', request_kind: 'turn' })
const CLAUDE = { 'user-agent': 'claude-cli/2.1.197 (external, cli)' }
const CODEX = { 'user-agent': 'codex_cli_rs/0.171.0 (Debian 13; x86_64) xterm' }
const OPENCODE = { 'user-agent': 'opencode/1.2.3 ai-sdk/provider-utils/4.0' }
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** Requests as their clients send them, and what is read. */
const SAID: [title: string, headers: Record<string, string>, body: object, session: Partial<CallSession>][] = [
  [
    'Claude Code by its header',
    { ...CLAUDE, 'x-claude-code-session-id': ID },
    { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: OTHER }) } },
    { session_id: ID, client: 'claude-code', client_version: '2.1.197' },
  ],
  [
    'a subagent of Claude Code',
    { 'x-claude-code-session-id': ID, 'x-claude-code-agent-id': 'a1', 'x-claude-code-parent-agent-id': 'a0' },
    {},
    { session_id: ID, thread_id: 'a1', parent_id: 'a0', kind: 'subagent', client: 'claude-code' },
  ],
  [
    'Claude Code by its metadata',
    CLAUDE,
    { metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: ID }) } },
    { session_id: ID, client: 'claude-code', client_version: '2.1.197' },
  ],
  [
    'an older Claude Code, behind a proxy that hides its name',
    {},
    { metadata: { user_id: `user_5f1c_account__session_${ID}` } },
    { session_id: ID },
  ],
  [
    'Codex',
    { ...CODEX, 'session-id': ID, 'thread-id': ID, 'x-codex-turn-metadata': TURN },
    { prompt_cache_key: OTHER },
    {
      session_id: ID,
      thread_id: ID,
      turn_id: 'turn-7',
      kind: 'turn',
      client: 'codex',
      client_version: '0.171.0',
    },
  ],
  [
    'Codex on its socket, whose headers are those of an earlier turn',
    { ...CODEX, 'session-id': ID, 'x-codex-turn-metadata': TURN.replace('turn-7', 'turn-6') },
    { client_metadata: { 'x-codex-turn-metadata': TURN } },
    { session_id: ID, thread_id: OTHER, turn_id: 'turn-7', kind: 'turn', client: 'codex', client_version: '0.171.0' },
  ],
  [
    'a subagent of Codex by its metadata alone',
    { 'x-codex-turn-metadata': TURN, 'x-openai-subagent': 'review', 'x-codex-parent-thread-id': ID },
    {},
    { session_id: ID, thread_id: OTHER, parent_id: ID, turn_id: 'turn-7', kind: 'review', client: 'codex' },
  ],
  [
    'opencode',
    { ...OPENCODE, 'x-session-affinity': ID, 'x-session-id': ID, 'x-parent-session-id': OTHER },
    {},
    { session_id: ID, parent_id: OTHER, kind: 'subagent', client: 'opencode', client_version: '1.2.3' },
  ],
  [
    'qwen-code',
    { 'user-agent': 'QwenCode/0.13.1 (linux; x64)' },
    { metadata: { sessionId: ID, promptId: 'p#1' } },
    { session_id: ID, turn_id: 'p#1', client: 'qwen-code', client_version: '0.13.1' },
  ],
  [
    'Cline',
    { 'user-agent': 'Cline/3.40.0' },
    { litellm_session_id: `cline-${ID}` },
    { session_id: `cline-${ID}`, client: 'cline', client_version: '3.40.0' },
  ],
  [
    'Gemini CLI, which says none',
    { 'user-agent': 'GeminiCLI/0.30.0/gemini-3-pro (linux; x64)' },
    {},
    { client: 'gemini-cli', client_version: '0.30.0' },
  ],
  [
    'our own header before customs, after the words of a known client',
    { 'x-gazeway-session': 'night shift', 'x-session-id': OTHER },
    { prompt_cache_key: OTHER },
    { session_id: 'night shift' },
  ],
  [
    'a header of a known client before ours',
    { ...CODEX, 'session-id': ID, 'x-gazeway-session': OTHER },
    {},
    {
      session_id: ID,
      client: 'codex',
      client_version: '0.171.0',
    },
  ],
  [
    'our own header where a known client says none',
    { ...CLAUDE, 'x-gazeway-session': ID },
    {},
    {
      session_id: ID,
      client: 'claude-code',
      client_version: '2.1.197',
    },
  ],
  ['the key of a prompt cache', {}, { prompt_cache_key: ID, user: 'ann' }, { session_id: ID }],
  ['metadata of OpenAI', {}, { metadata: { session_id: ID } }, { session_id: ID }],
  ['the end user', { traceparent: TRACE }, { user: 'ann' }, { session_id: 'user:ann' }],
  ['the trace', { traceparent: TRACE }, {}, { session_id: 'trace:0af7651916cd43dd8448eb211c80319c' }],
  ['no trace', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }, {}, {}],
  ['an id that is too long', { 'x-session-id': 'x'.repeat(129) }, { user: 'x'.repeat(1_000_000) }, {}],
  [
    'ids that are no text',
    { 'x-session-id': 'a\u00e9b' },
    { prompt_cache_key: 7, metadata: [ID], user: { id: ID } },
    {},
  ],
  [
    'metadata that is no JSON',
    { ...CODEX, 'x-codex-turn-metadata': '{"session_id":' },
    {},
    {
      client: 'codex',
      client_version: '0.171.0',
    },
  ],
]

describe('The session of a call', () => {
  for (const [title, headers, body, session] of SAID)
    it(`is read from ${title}`, () => assert.deepEqual(sessionOf(headers, { ...body }), { ...NO_SESSION, ...session }))

  it('is never a name that an address drops', () => {
    for (const dots of ['.', '..']) assert.equal(sessionOf({ 'x-gazeway-session': dots }).session_id, null)
    assert.equal(sessionOf({ 'x-gazeway-session': '...' }).session_id, '...')
  })
  it('is bounded text or null, whatever a client sends', () => {
    const name = fc.constantFrom(
      'x-session-id',
      'user-agent',
      'x-codex-turn-metadata',
      'traceparent',
      'x-openai-subagent',
    )
    const text = fc.oneof(fc.string(), fc.string({ minLength: 100, maxLength: 200 }), fc.json())
    const field = fc.constantFrom('prompt_cache_key', 'user', 'metadata', 'litellm_session_id')
    const agent = fc.constantFrom(CLAUDE, CODEX, OPENCODE, {})
    fc.assert(
      fc.property(agent, fc.dictionary(name, text), fc.dictionary(field, fc.anything()), (said, headers, body) => {
        for (const word of Object.values(sessionOf({ ...said, ...headers }, body)))
          assert.ok(word === null || /^[\x20-\x7e]{1,128}$/.test(word), String(word))
      }),
      { numRuns: 300 },
    )
  })
})
