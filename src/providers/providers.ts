import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { lmstudio } from './lmstudio.ts'
import { mistral } from './mistral.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import type { Preset } from './preset.ts'
import { sandbox } from './sandbox.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'

/** Providers known by name, in display order. The first is the default. */
export const PRESETS: readonly [Preset, ...Preset[]] = [
  xai,
  openai,
  anthropic,
  openrouter,
  gemini,
  groq,
  mistral,
  deepseek,
  together,
  fireworks,
  azure,
  bedrock,
  vertex,
  ollama,
  lmstudio,
  vllm,
  sandbox,
]

/** Names of the presets, as in `GAZEWAY_UPSTREAM`. Any other value is the base URL of an OpenAI-compatible service. */
export const PRESET_NAMES: readonly string[] = PRESETS.map(({ name }) => name)

/** The providers' own environment variables for their keys. */
export const KEY_VARIABLES: readonly string[] = PRESETS.flatMap(({ key }) => (key === null ? [] : [key.variable]))

/** Preset by name. Undefined for a base URL. */
export const presetOf = (provider: string): Preset | undefined => PRESETS.find(({ name }) => name === provider)

/** Preset whose API has the host of a base URL. Undefined for any other host. */
export function presetAt(baseUrl: string): Preset | undefined {
  const host = hostOf(baseUrl)
  return host === null ? undefined : PRESETS.find((preset) => hostOf(preset.baseUrl) === host)
}

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null)

/** Tells whether a value of `--upstream` is a known provider or a base URL. */
export const isProvider = (provider: string): boolean => presetOf(provider) !== undefined || provider.includes('://')
