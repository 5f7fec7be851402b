import { GEMINI_FIELDS } from './gemini-fields.ts'
import { type Preset, STREAM_CANCELLATION } from './preset.ts'

// The OpenAI-compatible address of the Gemini API: https://ai.google.dev/gemini-api/docs/openai, read 2026-11-24.
// Prices are introductory; from 2027 on they are $1.50 input, $7.50 output and $0.15 cached input, by the source below.
export const gemini: Preset = {
  name: 'gemini',
  label: 'Google Gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  protocol: 'openai',
  besideGoogleApi: '/openai',
  key: { variable: 'GEMINI_API_KEY', page: 'https://aistudio.google.com/apikey' },
  stopsOnClose: { stops: false, source: STREAM_CANCELLATION },
  roles: {
    research: 'gemini-3.8-flash',
    reasoning: 'gemini-3.8-flash',
    fast_reasoning: 'gemini-3.8-flash',
    chat: 'gemini-3.8-flash',
  },
  pricedFields: GEMINI_FIELDS,
  models: {
    'gemini-3.8-flash': {
      prices: { input: 0.75, output: 3.75, cached_input: 0.075 },
      source:
        'https://github.com/anomalyco/models.dev/blob/91a19838362bf054937e0e5534d8871762f354f8/providers/google/models/gemini-3.8-flash.toml',
      date: '2026-11-24',
      // Its listing states none.
      maxOutput: { tokens: 65_536, source: 'https://www.npmjs.com/package/llm-zoo/v/1.37.0' },
    },
  },
}
