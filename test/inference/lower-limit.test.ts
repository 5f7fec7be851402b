import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lowerLimit } from '../../src/inference/dialect/lower-limit.ts'

describe('the limit that is tried after an upstream refused one', () => {
  const CASES: [string, number, string, number, ReturnType<typeof lowerLimit>][] = [
    [
      'is that of the model, by OpenAI',
      400,
      'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
      100_000,
      16_384,
    ],
    [
      'is that of the model, by Anthropic, whose models have dates in their names',
      400,
      'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-20250514',
      200_000,
      64_000,
    ],
    [
      'is what the context leaves, by OpenAI',
      400,
      "This model's maximum context length is 16385 tokens. However, you requested 17000 tokens (808 in the messages, 16192 in the completion). Please reduce the length of the messages or completion.",
      16_192,
      15_577,
    ],
    [
      'is what the context leaves, by Anthropic',
      400,
      'input length and `max_tokens` exceed context limit: 190000 + 20001 > 200000, decrease input length or `max_tokens` and try again',
      20_001,
      10_000,
    ],
    [
      'is what the context leaves, by vLLM',
      400,
      "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 100 input tokens (8192 > 4096 - 100).",
      8192,
      3996,
    ],
    [
      'is what the credit at OpenRouter affords, which may be another tomorrow',
      402,
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 4000.',
      65_536,
      4000,
    ],
    [
      'is what the minute at Groq leaves, which may be another in the next',
      413,
      'Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9100, please reduce your message size.',
      8192,
      5092,
    ],
    ['is one that most models accept where none is named', 400, 'Invalid max_tokens.', 8192, 4096],
    ['is none where the error is about something else', 400, 'Unknown field 20 in messages.', 8192, null],
    ['is none where the body is too large', 413, 'Request entity too large', 8192, null],
    ['is none after another status', 429, 'max_tokens is too large: at most 10 completion tokens', 8192, null],
  ]
  for (const [title, status, message, sent, expected] of CASES)
    it(title, () => assert.deepEqual(lowerLimit({ status, message, isAsSuch: false, field: null }, sent), expected))
})
