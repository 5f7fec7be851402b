import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readUsage } from '../../src/providers/token-usage.ts'

const chat = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

describe('reported usage', () => {
  const read: Array<[what: string, reported: unknown, tokens: [prompt: number, completion: number]]> = [
    ['of a chat completion', chat, [10, 5]],
    ['without a total', { prompt_tokens: 10, completion_tokens: 5 }, [10, 5]],
    ['with tokens in the total alone, as Gemini has its thoughts', { ...chat, total_tokens: 99 }, [10, 89]],
    ['with no completion but in the total', { prompt_tokens: 10, total_tokens: 99 }, [10, 89]],
    ['with a total below the sum', { ...chat, total_tokens: 14 }, [10, 5]],
    ['with a total below the prompt', { ...chat, total_tokens: 0 }, [10, 5]],
    ['of embeddings', { prompt_tokens: 10, total_tokens: 10 }, [10, 0]],
    ['of a Response', { input_tokens: 10, output_tokens: 5, total_tokens: 15 }, [10, 5]],
    [
      'of a Response, with tokens in its total alone',
      { input_tokens: 10, output_tokens: 5, total_tokens: 99 },
      [10, 89],
    ],
    [
      'of a Response, with a total that can not be',
      { input_tokens: 10, output_tokens: 5, total_tokens: 1e10 },
      [10, 5],
    ],
    ['in both shapes', { ...chat, input_tokens: 1, output_tokens: 1 }, [10, 5]],
    ['with reasoning in the completion', { ...chat, completion_tokens_details: { reasoning_tokens: 4 } }, [10, 5]],
    [
      'with reasoning apart, as xAI has it',
      { ...chat, total_tokens: 19, completion_tokens_details: { reasoning_tokens: 4 } },
      [10, 9],
    ],
    [
      'with some reasoning apart, and more in the total',
      { ...chat, total_tokens: 99, completion_tokens_details: { reasoning_tokens: 4 } },
      [10, 89],
    ],
    ['with details of nothing', { ...chat, completion_tokens_details: null }, [10, 5]],
    ['with details of something else', { ...chat, completion_tokens_details: { reasoning_tokens: null } }, [10, 5]],
    ['with details as PHP writes an empty object', { ...chat, completion_tokens_details: [] }, [10, 5]],
    ['of as many tokens as can be', { prompt_tokens: 1e9, completion_tokens: 0 }, [1e9, 0]],
    ['that is wrong in one shape', { ...chat, prompt_tokens: -1, input_tokens: 3, output_tokens: 12 }, [3, 12]],
  ]
  for (const [what, reported, [prompt_tokens, completion_tokens]] of read)
    it(`is read ${what}`, () => {
      const total_tokens = prompt_tokens + completion_tokens
      assert.deepEqual(readUsage(reported), { prompt_tokens, completion_tokens, total_tokens })
    })

  const inCache: Array<[what: string, reported: unknown, cache: object]> = [
    [
      'of a chat completion',
      { ...chat, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 } },
      { cached_tokens: 4, cache_write_tokens: 3 },
    ],
    ['of a chat completion of DeepSeek', { ...chat, prompt_cache_hit_tokens: 4 }, { cached_tokens: 4 }],
    [
      'of a Response',
      { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 10 } },
      { cached_tokens: 10 },
    ],
    [
      'of a Message',
      {
        input_tokens: 1,
        output_tokens: 5,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 5,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
      },
      { cached_tokens: 4, cache_write_tokens: 5, cache_write_1h_tokens: 2 },
    ],
    ['where none is', { ...chat, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 } }, {}],
    ['where more is than the prompt has', { ...chat, prompt_tokens_details: { cached_tokens: 11 } }, {}],
    ['where it is no count', { ...chat, prompt_tokens_details: { cached_tokens: -3, cache_write_tokens: 'x' } }, {}],
    ['where the details are none', { ...chat, prompt_tokens_details: 7 }, {}],
  ]
  for (const [what, reported, cache] of inCache)
    it(`tells what of the prompt was cached ${what}`, () =>
      assert.deepEqual(readUsage(reported), { ...chat, ...cache }))

  it('is unknown without any token, as servers send that do not know it yet', () => {
    assert.equal(readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }), null)
    assert.equal(readUsage({ input_tokens: 0, output_tokens: 0 }), null)
  })

  const impossible = [-1, 1.5, 1e9 + 1, Number.NaN, Number.POSITIVE_INFINITY, '10', null, true, [10], {}]
  for (const value of impossible)
    it(`is unknown when a count is ${JSON.stringify(value)} (${typeof value})`, () => {
      for (const name of ['prompt_tokens', 'completion_tokens', 'total_tokens'])
        assert.equal(readUsage({ ...chat, [name]: value }), null)
      for (const name of ['input_tokens', 'output_tokens'])
        assert.equal(readUsage({ input_tokens: 1, output_tokens: 1, [name]: value }), null)
      if (value !== null)
        assert.equal(readUsage({ ...chat, completion_tokens_details: { reasoning_tokens: value } }), null)
    })

  for (const reported of [undefined, null, 7, 'usage', [], {}, { completion_tokens: 5 }, { prompt_tokens: null }])
    it(`is unknown in ${JSON.stringify(reported)}`, () => assert.equal(readUsage(reported), null))
})
