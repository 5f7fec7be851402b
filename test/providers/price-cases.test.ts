import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { readTerms } from '../../src/inference/observe/reported-terms.ts'
import { costOfCall } from '../../src/providers/cost.ts'
import type { PricedModel, Prices } from '../../src/providers/prices.ts'
import { presetOf } from '../../src/providers/providers.ts'
import { loadShippedCatalogue } from '../../src/providers/shipped-catalogue.ts'
import { type TierFields, tierIn } from '../../src/providers/tiers.ts'
import { type MediaTokens, readUsage } from '../../src/providers/token-usage.ts'

const PRICES: Prices = {
  models: { own: { input: 0.1, output: 0.3 }, spoken: { input: 0, output: 0, units: { audio_second: 0.0001 } } },
  price_per_1k_tokens_usd: 0.003,
}

const modelOf = (name: string): PricedModel => {
  const [vendor = '', ...rest] = name.split(' ')
  const id = rest.join(' ')
  return { requested: id, upstream: id, vendor, catalogue: presetOf(vendor)?.models ?? {} }
}
const chat = (prompt_tokens: number, completion_tokens: number, more: object = {}) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
})
const cached = (cached_tokens: number, cache_write_tokens = 0) => ({
  prompt_tokens_details: { cached_tokens, cache_write_tokens },
})
const message = (input_tokens: number, output_tokens: number, more: object = {}) => ({
  input_tokens,
  output_tokens,
  ...more,
})
const response = message
/** A whole chat completion with these members of its message. */
const completionOf = (of: object) => ({ choices: [{ message: of }] })
const spoken = (input: number, output: number) => ({
  prompt_tokens_details: { audio_tokens: input },
  completion_tokens_details: { audio_tokens: output },
})

type Case = [
  what: string,
  model: string,
  usage: object,
  tier: string | TierFields | null,
  micros: number,
  answer?: object,
]

/**
 * Amounts in micro-dollars, computed by hand. Prices of the vendors' pages on the day that the catalogues name; a rate in
 * USD for 1,000,000 tokens is as many micro-dollars for each token.
 */
const CASES: Case[] = [
  // OpenAI
  ['plain', 'openai gpt-5', chat(1000, 500), null, 6250], // 1000×1.25 + 500×10
  ['cached input', 'openai gpt-5', chat(1000, 500, cached(800)), null, 5350], // 200×1.25 + 800×0.125 + 5000
  ['all of it cached', 'openai gpt-5', chat(1000, 0, cached(1000)), null, 125],
  ['more cached than sent, which earns nothing', 'openai gpt-5', chat(1000, 0, cached(1001)), null, 1250],
  ['flex', 'openai gpt-5', chat(1000, 500), 'flex', 3125],
  ['flex with cached input', 'openai gpt-5', chat(1000, 500, cached(800)), 'flex', 2675],
  ['priority', 'openai gpt-5', chat(1000, 500), 'priority', 12_500], // 1000×2.5 + 500×20
  ['a tier without a price: the dearest known', 'openai gpt-5', chat(1000, 500), 'scale', 12_500],
  ['the default tier by its name', 'openai gpt-5', chat(1000, 500), 'default', 6250],
  [
    'reasoning inside of completion',
    'openai o3',
    chat(100, 300, { completion_tokens_details: { reasoning_tokens: 250 } }),
    null,
    2600,
  ],
  ['a Response', 'openai gpt-5-mini', response(1000, 1000, { total_tokens: 2000 }), null, 2250], // 250 + 2000
  [
    'a Response with cached input',
    'openai gpt-5-mini',
    response(1000, 0, { input_tokens_details: { cached_tokens: 600 } }),
    null,
    115,
  ],
  ['cache writes', 'openai gpt-5.6', chat(10_000, 0, cached(2000, 3000)), null, 17_900], // 5000×2 + 2000×0.2 + 3000×2.5
  ['the last token before a long prompt', 'openai gpt-5.6', chat(272_000, 100), null, 545_000], // ×2 + 100×10
  ['the first token of a long prompt', 'openai gpt-5.6', chat(272_001, 100), null, 1_089_504], // ×4 + 100×15
  ['a long prompt with cached input', 'openai gpt-5.6', chat(300_000, 0, cached(200_000)), null, 480_000], // 100k×4 + 200k×0.4
  ['a price of the catalogue', 'openai gpt-4o-mini', chat(1000, 1000), null, 750],
  ['a dated id', 'openai gpt-4.1-2025-04-14', chat(1000, 1000), null, 10_000],
  ['a tier where only the standard price is known', 'openai gpt-4.1', chat(1000, 0), 'flex', 2000],
  [
    'embeddings, which have input alone',
    'openai text-embedding-3-small',
    { prompt_tokens: 1001, total_tokens: 1001 },
    null,
    21,
  ], // 20.02
  ['the catalogue’s border of a long prompt', 'openai gpt-5.4', chat(271_999, 0), null, 679_998], // ×2.5 = 679,997.5
  ['one token above it', 'openai gpt-5.4', chat(272_000, 0), null, 1_360_000], // ×5
  // Anthropic
  ['a Message', 'anthropic claude-opus-5-5', message(1000, 200), null, 8000], // 4000 + 4000
  [
    'a read of the cache',
    'anthropic claude-opus-5-5',
    message(1000, 0, { cache_read_input_tokens: 10_000 }),
    null,
    6000,
  ],
  [
    'a write for 5 minutes',
    'anthropic claude-opus-5-5',
    message(0, 10, { cache_creation_input_tokens: 1000 }),
    null,
    5200,
  ],
  [
    'a write for an hour',
    'anthropic claude-opus-5-5',
    message(0, 10, { cache_creation_input_tokens: 1000, cache_creation: { ephemeral_1h_input_tokens: 1000 } }),
    null,
    8200,
  ],
  [
    'both writes, a read, input and output',
    'anthropic claude-sonnet-5-5',
    message(100, 50, {
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
    }),
    null,
    11_400, // 200 + 200 + 2500 + 8000 + 500
  ],
  ['a small model', 'anthropic claude-haiku-4-5', message(1, 1), null, 6],
  ['a fraction, rounded up', 'anthropic claude-haiku-4-5', message(0, 0, { cache_read_input_tokens: 1 }), null, 1],
  // xAI, Gemini: thoughts are in the total alone
  [
    'reasoning outside of completion',
    'xai grok-4.3',
    { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1400 },
    null,
    2250,
  ],
  [
    'thoughts outside of completion',
    'gemini gemini-2.5-pro',
    { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1600 },
    null,
    7250,
  ],
  ['a long prompt of xAI', 'xai grok-4.3', chat(200_001, 10), null, 500_053], // 500,002.5 + 50
  ['its border', 'xai grok-4.3', chat(200_000, 10), null, 250_025],
  ['an image that is not counted: the dearest', 'gemini gemini-2.5-flash-image', chat(10, 1290), null, 38_703], // 3 + 1290×30
  [
    'an image, beside its text and thoughts',
    'gemini gemini-2.5-flash-image',
    {
      promptTokenCount: 10,
      candidatesTokenCount: 1300,
      thoughtsTokenCount: 200,
      totalTokenCount: 1510,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    },
    null,
    39_228, // 10×0.3 + 1290×30 + 210×2.5
  ],
  ...[[], [{ modality: 'TEXT', tokenCount: 5 }]].map(
    (candidatesTokensDetails): Case => [
      `an image that is not among the counts by modality: ${candidatesTokensDetails.length}`,
      'gemini gemini-2.5-flash-image',
      { promptTokenCount: 10, candidatesTokenCount: 1290, totalTokenCount: 1300, candidatesTokensDetails },
      null,
      38_703, // 10×0.3 + 1290×30
    ],
  ),
  [
    'an answer without an image of a model that makes them',
    'gemini gemini-2.5-flash-image',
    chat(10, 100, { completion_tokens_details: { image_tokens: 0 } }),
    null,
    253, // 10×0.3 + 100×2.5
  ],
  [
    'an image, by the tokens of a compatible API',
    'gemini gemini-3-pro-image-preview',
    chat(100, 1200, { completion_tokens_details: { image_tokens: 1120, reasoning_tokens: 80 } }),
    null,
    135_560, // 100×2 + 1120×120 + 80×12
  ],
  [
    'images in and out of the images API',
    'openai gpt-image-1.5',
    {
      input_tokens: 50,
      input_tokens_details: { text_tokens: 20, image_tokens: 30 },
      output_tokens: 4170,
      output_tokens_details: { text_tokens: 10, image_tokens: 4160 },
      total_tokens: 4220,
    },
    null,
    133_560, // 20×5 + 30×8 + 10×10 + 4160×32
  ],
  [
    'a video to embed, with its sound',
    'gemini gemini-embedding-2',
    {
      promptTokenCount: 1000,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'VIDEO', tokenCount: 800 },
        { modality: 'AUDIO', tokenCount: 100 },
      ],
    },
    null,
    10_270, // 100×0.2 + 800×12 + 100×6.5
  ],
  // Others
  ['a fraction of a micro-dollar a token', 'groq openai/gpt-oss-20b', chat(3, 1), null, 1], // 0.225 + 0.3
  [
    'tokens of a cache by DeepSeek’s name',
    'deepseek deepseek-flash',
    chat(1000, 0, { prompt_cache_hit_tokens: 900 }),
    null,
    36,
  ], // 30 + 5.4
  ['a price by configuration', 'openai own', chat(7, 1), null, 1], // 0.7 + 0.3
  ['a price by configuration, above a whole one', 'openai own', chat(8, 1), null, 2], // 1.1
  ['no price: the flat one', 'openai invented', chat(10, 10), null, 60],
  // Tiers, speeds and regions as percentages
  [
    'fast mode of a model at twice the price',
    'anthropic claude-opus-5-5',
    message(1000, 200),
    { speed: 'fast' },
    16_000,
  ],
  ['fast mode of a model at six times', 'anthropic claude-opus-4-7', message(1000, 200), { speed: 'fast' }, 60_000], // (5000 + 5000) × 6
  ['a region', 'anthropic claude-haiku-4-5', message(1000, 100), { inference_geo: 'us' }, 1650], // 1500 × 1.1
  ['anywhere', 'anthropic claude-haiku-4-5', message(1000, 100), { inference_geo: 'global' }, 1500],
  [
    'a write for an hour in a region, fast',
    'anthropic claude-opus-5-5',
    message(0, 0, { cache_creation_input_tokens: 1000, cache_creation: { ephemeral_1h_input_tokens: 1000 } }),
    { speed: 'fast', inference_geo: 'us' },
    17_600, // 8000 × 2 × 1.1
  ],
  ['a batch', 'anthropic claude-sonnet-5-5', message(1000, 100), 'batch', 1500], // 3000 / 2
  ['capacity paid beforehand', 'anthropic claude-sonnet-5-5', message(1000, 100), 'priority', 3000],
  ['flex of Gemini', 'gemini gemini-3.8-flash', chat(1000, 100), 'flex', 563], // 1125 / 2
  ['priority of Gemini, the dearest', 'gemini gemini-3.8-flash', chat(1000, 100), 'priority', 2250], // 1125 × 2
  ['flex of Groq, which costs the same', 'groq openai/gpt-oss-120b', chat(1000, 100), 'flex', 210],
  // Fees
  [
    'searches of a Message',
    'anthropic claude-haiku-4-5',
    message(1000, 100, { server_tool_use: { web_search_requests: 7 } }),
    null,
    71_500, // 1500 + 7 × 10,000
  ],
  [
    'searches on X and in files, by the counts of xAI',
    'xai grok-4.3',
    chat(1000, 100, {
      server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2, file_search_calls: 1 },
    }),
    null,
    19_000, // 1500 + 3 × 5000 + 2500
  ],
  [
    'tools that Groq ran: two searches, a page, code; each chunk of the same tool once',
    'groq openai/gpt-oss-120b',
    chat(1000, 100),
    null,
    32_210, // 210 + 2 × 8000 + 1000 + 15,000
    completionOf({
      executed_tools: [
        { index: 0, type: 'search', output: 'one' },
        { index: 1, type: 'browser.search' },
        { index: 2, type: 'visit' },
        { index: 3, type: 'python', code_results: [] },
        { index: 0, type: 'search' },
      ],
    }),
  ],
  [
    'two searches of Gemini 3',
    'gemini gemini-3.8-flash',
    chat(1000, 100),
    null,
    29_125, // 1125 + 2 × 14,000
    completionOf({ extra_content: { google: { grounding_metadata: { web_search_queries: ['a', 'b', 'a'] } } } }),
  ],
  [
    'a grounded answer of Gemini 2.5, whatever it searched',
    'gemini gemini-2.5-flash',
    chat(1000, 100),
    null,
    35_550, // 300 + 250 + 35,000
    { model: 'gemini-2.5-flash', ...completionOf({ groundingMetadata: { webSearchQueries: ['a', 'b'] } }) },
  ],
  [
    'the tokens of an image that a tool made',
    'openai gpt-5',
    response(1000, 100),
    null,
    250_030, // 1250 + 1000 + 30 × 10 + 6187 × 40
    {
      output: [{ type: 'image_generation_call' }],
      tool_usage: { image_gen: { input_tokens: 30, output_tokens: 6187 } },
    },
  ],
  [
    'a container of a shell and of code, and a shell of the client',
    'openai gpt-5',
    response(1000, 100),
    null,
    62_250, // 1000×1.25 + 100×10 + 2×30,000
    {
      output: [
        { type: 'shell_call', environment: { type: 'container_reference', container_id: 'cntr_1' } },
        { type: 'code_interpreter_call', container_id: 'cntr_1' },
        { type: 'shell_call', environment: { type: 'container_reference', container_id: 'cntr_2' } },
        { type: 'shell_call', environment: { type: 'local' } },
      ],
    },
  ],
  [
    'an image whose tokens are not counted',
    'openai gpt-5',
    response(1000, 100),
    null,
    252_250,
    { output: [{ type: 'image_generation_call' }] },
  ],
  // Speech
  ['speech in and out', 'openai gpt-audio', chat(1000, 500, spoken(800, 400)), null, 52_700], // 200×2.5 + 800×32 + 100×10 + 400×64
  ['speech in, text out', 'openai gpt-audio', chat(1000, 100, spoken(1000, 0)), null, 33_000],
  ['an answer that may be speech, uncounted', 'openai gpt-audio', chat(100, 10), null, 890], // 250 + 640
  ['more speech than prompt', 'openai gpt-audio', chat(100, 0, spoken(101, 0)), null, 3200],
  [
    'speech from the cache, after that of the rest',
    'openai gpt-realtime-mini',
    chat(1000, 0, { prompt_tokens_details: { cached_tokens: 600, audio_tokens: 700 } }),
    null,
    4108, // 400×10 + 300×0.3 + 300×0.06
  ],
  [
    'a transcription',
    'openai gpt-4o-transcribe',
    {
      type: 'tokens',
      ...message(100, 20),
      total_tokens: 120,
      input_token_details: { text_tokens: 10, audio_tokens: 90 },
    },
    null,
    765, // 10×2.5 + 90×6 + 20×10
  ],
  ['speech to Gemini', 'gemini gemini-2.5-flash', chat(1000, 100, spoken(1000, 0)), null, 1250], // 1000×1 + 250
  ['speech to Gemini, flex', 'gemini gemini-2.5-flash', chat(1000, 100, spoken(1000, 0)), 'flex', 625],
  // A prediction: rejected tokens are in the completion
  [
    'rejected tokens of a prediction, which cost as output',
    'openai gpt-4.1',
    chat(1000, 700, {
      completion_tokens_details: { accepted_prediction_tokens: 100, rejected_prediction_tokens: 500 },
    }),
    null,
    7600, // 1000×2 + 700×8
  ],
  // By the piece
  ['seconds of audio', 'openai spoken', { type: 'duration', seconds: 61.2 }, null, 6200], // 62 × 100
  ['an hour of a recording', 'openai whisper-1', { type: 'duration', seconds: 3600 }, null, 360_000],
  ['a part of an hour', 'groq whisper-large-v3', { type: 'duration', seconds: 61 }, null, 1881], // 61 × 111,000 / 3600
  ['the shortest recording', 'groq whisper-large-v3', { type: 'duration', seconds: 1 }, null, 309], // 10 × 111,000 / 3600
  ['as Mistral counts it', 'mistral voxtral-mini-2602', chat(4, 30, { prompt_audio_seconds: 100 }), null, 5000],
  // Iterations
  [
    'a compaction',
    'anthropic claude-opus-5-5',
    message(20_000, 3000, {
      iterations: [
        { type: 'compaction', ...message(178_000, 2000) },
        { type: 'message', ...message(20_000, 3000) },
      ],
    }),
    null,
    892_000, // 198,000 × 4 + 5000 × 20
  ],
  [
    'an advisor of another model',
    'anthropic claude-haiku-4-5',
    message(1000, 100, {
      iterations: [
        { type: 'message', ...message(1000, 100) },
        { type: 'advisor_message', model: 'claude-opus-5-5', ...message(2000, 50) },
      ],
    }),
    null,
    10_500, // 1500 + 8000 + 1000
  ],
  [
    'a fallback after a refusal',
    'anthropic claude-opus-5-5',
    message(1000, 100, {
      iterations: [
        { type: 'message', ...message(1000, 0) },
        { type: 'fallback_message', model: 'claude-sonnet-5-5', ...message(1000, 100) },
      ],
    }),
    null,
    7000, // 4000 + 2000 + 1000
  ],
  // Stated
  ['ticks of xAI', 'xai grok-4.3', chat(1000, 100, { cost_in_usd_ticks: 15_000_001 }), null, 1501],
  ['a cost of OpenRouter', 'openrouter x-ai/grok-4.3', chat(1000, 100, { cost: 0.00123 }), null, 1230],
  ['a stated 0, not believed', 'openrouter x-ai/grok-4.3', chat(1000, 100, { cost: 0 }), null, 1500],
]

/** Media of a call whose prompt is text as far as it is not counted. */
const asked = ({ audio, image, video }: MediaTokens): MediaTokens => ({
  audio: { ...audio, input: audio.input ?? 0 },
  image: { ...image, input: image.input ?? 0 },
  video: { ...video, input: video.input ?? 0 },
})

describe('amounts that were computed by hand', () => {
  before(loadShippedCatalogue)
  for (const [what, model, usage, tier, micros, answer = {}] of CASES)
    it(`${model}: ${what}`, () => {
      const { parts, media, uses, stated } = readTerms({ model, ...answer }, usage)
      const fields = typeof tier === 'object' ? (tier ?? {}) : { service_tier: tier }
      const of = { usage: readUsage(usage), parts, media: asked(media), uses, tier: tierIn(fields), stated }
      assert.equal(costOfCall(of, modelOf(model), PRICES).micros, micros)
    })
})
