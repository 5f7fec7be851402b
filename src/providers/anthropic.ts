import { ANTHROPIC_FIELDS } from './anthropic-fields.ts'
import { type Preset, STREAM_CANCELLATION } from './preset.ts'

const commit =
  'https://github.com/anomalyco/models.dev/blob/482fb019a4847290b37990da929dc707d9243dca/providers/anthropic/models'
const date = '2026-11-24'

// Writes that are kept for an hour cost twice the input: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
export const anthropic: Preset = {
  name: 'anthropic',
  label: 'Anthropic',
  // https://docs.claude.com/en/api/overview
  baseUrl: 'https://api.anthropic.com/v1',
  protocol: 'anthropic',
  adminKey: {
    variable: 'ANTHROPIC_ADMIN_KEY',
    page: 'https://platform.claude.com/settings/admin-keys',
    prefix: 'sk-ant-admin',
  },
  listsLimits: true,
  key: { variable: 'ANTHROPIC_API_KEY', page: 'https://platform.claude.com/settings/keys' },
  stopsOnClose: { stops: true, source: STREAM_CANCELLATION },
  roles: {
    research: 'claude-opus-5-5',
    reasoning: 'claude-opus-5-5',
    fast_reasoning: 'claude-sonnet-5-5',
    chat: 'claude-haiku-4-5',
  },
  pricedFields: ANTHROPIC_FIELDS,
  models: {
    'claude-opus-5-5': {
      prices: { input: 4, output: 20, cached_input: 0.2, cache_write: 5, cache_write_1h: 8 },
      source: `${commit}/claude-opus-5-5.toml`,
      date,
    },
    'claude-sonnet-5-5': {
      prices: { input: 2, output: 10, cached_input: 0.1, cache_write: 2.5, cache_write_1h: 4 },
      source: `${commit}/claude-sonnet-5-5.toml`,
      date,
    },
    'claude-haiku-4-5': {
      prices: { input: 1, output: 5, cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 },
      source: `${commit}/claude-haiku-4-5.toml`,
      date,
    },
  },
}
