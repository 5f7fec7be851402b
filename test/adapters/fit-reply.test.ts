import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fitReply, fitText } from '../../adapters/stdio/fit-reply.ts'
import { MAX_CHARACTERS, MAX_TOKENS } from '../../adapters/stdio/reply-limits.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { memorySearch } from '../../tools/memory-search.ts'

const countTokens = createTokenCounter()
const words = (count: number) => 'parcel '.repeat(count)
const nested = (depth: number): unknown =>
  depth === 0 ? 'leaf of a tree' : Array.from({ length: 12 }, () => nested(depth - 1))

describe('a reply', () => {
  it('stays unchanged within the token limit', async () => {
    for (const output of [{ answer: 'Yes.' }, { answer: words(15_000), sources: [1, 2] }])
      assert.deepEqual(await fitReply(output), { output, note: null })
  })

  const long: [what: string, output: Record<string, unknown>, place: string][] = [
    ['a long text', { notice: 'Data.', answer: words(60_000) }, 'answer'],
    ['a text without spaces', { memory: { key: 'a', value: 'x'.repeat(250_000) } }, 'memory.value'],
    ['text of other scripts', { memory: { value: '日本語'.repeat(20_000) } }, 'memory.value'],
    [
      'many results',
      { results: Array.from({ length: 100 }, (_, n) => ({ memory: { value: words(3000) }, score: n })) },
      'results[].memory.value',
    ],
    ['a long list', { groups: Array.from({ length: 20_000 }, (_, n) => ({ key: `model-${n}`, calls: n })) }, 'groups'],
    [
      'an object of many fields',
      { body: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])) },
      'body',
    ],
    ['what nests wide and deep', { memory: { value: nested(4) } }, 'memory.value'],
  ]
  for (const [what, output, place] of long)
    it(`is cut to what a model takes, and says where: ${what}`, async () => {
      const { output: kept, note } = await fitReply(output)
      assert.match(
        note ?? '',
        new RegExp(`25000 tokens and 150000 characters: .*${place.replaceAll(/[[\].]/g, '\\$&')}`),
      )
      const tokens = await countTokens(JSON.stringify({ cut: note, ...kept }))
      assert.ok(tokens <= MAX_TOKENS, `${tokens} tokens`)
      assert.ok(tokens > MAX_TOKENS / 20, `${tokens} tokens are much less than fit`)
      assert.deepEqual(Object.keys(kept), Object.keys(output))
    })

  it('has no more characters than Claude Code shows its model, however few tokens they are', async () => {
    const spaces = { memory: { key: 'a', value: ' '.repeat(250_000) } }
    assert.ok((await countTokens(JSON.stringify(spaces))) < MAX_TOKENS)
    const { output, note } = await fitReply(spaces)
    assert.match(note ?? '', /memory\.value/)
    const { length } = JSON.stringify({ cut: note, ...output })
    assert.ok(length <= MAX_CHARACTERS && length > MAX_CHARACTERS / 4, `${length} characters`)
    assert.ok((await fitText(' '.repeat(250_000))).length <= MAX_CHARACTERS)
  })

  it('keeps each item of a page, whose cursor leads to the next', async () => {
    const items = Array.from({ length: 200 }, (_, n) => ({ id: n, error: words(400) }))
    const { output } = await fitReply({ items, total: 5000, next_cursor: 'abc' })
    assert.equal((output.items as unknown[]).length, 200)
  })

  it('still fits the schema of its tool', async () => {
    const memory = {
      id: 'mem_1',
      key: 'a',
      namespace: 'default',
      project: null,
      value: { lines: Array.from({ length: 2000 }, () => words(20)) },
      tags: ['one', 'two'],
      written_by: null,
      version: 1,
      created_at: '2026-11-21T09:00:00.000Z',
      updated_at: '2026-11-21T09:00:00.000Z',
      expires_at: null,
    }
    const results = Array.from({ length: 100 }, () => ({ memory, score: 1, weak: false, excerpt: 'one' }))
    const { output, note } = await fitReply({ results, total: 100, mode: 'lexical' })
    assert.notEqual(note, null)
    const { success, error } = memorySearch.output.safeParse(output)
    assert.ok(success, String(error))
  })

  it('keeps all fields of a page’s items, whatever the script of their texts', async () => {
    const model = '鬱'.repeat(180)
    const item = {
      call_id: 'call_019aa5b2c3d47e6f8091a2b3c4d5e6f7',
      at: '2026-11-21T09:00:00.000Z',
      surface: 'stdio',
      caller_id: null,
      path: '/chat/completions',
      requested_model: model,
      model,
      upstream: 'default',
      stream: true,
      status: 'ok',
      http_status: 200,
      fallback_from: null,
      price_from: null,
      provider_key: null,
      ...NO_SESSION,
      latency_ms: 12,
      first_token_ms: 3,
      usage: null,
      upstream_cost_usd: 0.001,
      error: null,
    }
    const items = Array.from({ length: 40 }, () => item)
    const { output, note } = await fitReply({ items, total: 40, next_cursor: null })
    assert.match(note ?? '', /items\[\]\.model/)
    for (const kept of output.items as object[]) assert.deepEqual(Object.keys(kept), Object.keys(item))
  })

  it('is cut as text, too', async () => {
    const text = await fitText(words(60_000))
    assert.match(text, /\(cut off\)$/)
    assert.ok((await countTokens(text)) <= MAX_TOKENS, 'it fits')
    assert.equal(await fitText('Short.'), 'Short.')
  })
})
