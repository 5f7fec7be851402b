import * as z from 'zod'
import { MEDIA, type Medium } from './preset.ts'

/** Tokens of one call. `estimated` is true when Gazeway counted, because the upstream reported nothing. */
export const Usage = z.object({
  prompt_tokens: z.number().int().min(0),
  completion_tokens: z.number().int().min(0),
  total_tokens: z.number().int().min(0),
  // Parts of the prompt, absent when zero: read from the provider's cache; written to it; of these, kept for an hour.
  cached_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
  cache_write_1h_tokens: z.number().optional(),
  estimated: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>

/** Largest plausible count. Beyond it the upstream is at fault, and sums could overflow the store. */
const MAX_TOKENS = 1e9

/**
 * Reads the usage field of a chat completion, a Response, a Message or a Gemini reply into one shape. Null when it is missing or
 * implausible, as one without any token: some servers send zeros until they know it, or always. The total is the sum:
 * tokens that appear only in the upstream's total count as completion.
 *
 * @example readUsage({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })?.completion_tokens // 5
 */
export function readUsage(reported: unknown): Usage | null {
  if (typeof reported !== 'object' || reported === null) return null
  const parts = usageParts(reported)
  return parts === null ? readTotals(reported) : parts.map(({ usage }) => usage).reduce(added)
}

/** Tokens of a medium among those of an answer's usage. Null for a count that the answer lacks. */
export interface MediumTokens {
  /** Part of the prompt. */
  input: number | null
  /** Part of the answer. */
  output: number | null
}
export type MediaTokens = Readonly<Record<Medium, MediumTokens>>

const eachMedium = (of: (medium: Medium) => MediumTokens): MediaTokens =>
  Object.fromEntries(MEDIA.map((medium) => [medium, of(medium)])) as Record<Medium, MediumTokens>

/** Fields in which a usage tells the tokens of media, in all APIs. */
const DETAILS = [
  'prompt_tokens_details',
  'input_tokens_details',
  'input_token_details',
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
  'promptTokensDetails',
  'candidatesTokensDetails',
] as const satisfies readonly (keyof Reported)[]

/** Nothing is known of media: the prompt is text, and the answer may be anything. */
export const NO_MEDIA_COUNTED: MediaTokens = eachMedium(() => ({ input: 0, output: null }))

/** Tokens of media in a usage that has no details of them. */
export const NO_MEDIA_REPORTED: MediaTokens = eachMedium(() => ({ input: null, output: null }))

/** Reads the tokens of media of a usage. */
export function mediaTokens(reported: unknown): MediaTokens {
  const of: Reported = objectOf(reported)
  if (DETAILS.every((name) => (of[name] ?? null) === null)) return NO_MEDIA_REPORTED
  const prompt = objectOf(of.prompt_tokens_details ?? of.input_tokens_details ?? of.input_token_details)
  const answer = objectOf(of.completion_tokens_details ?? of.output_tokens_details ?? of.output_token_details)
  const count = (details: object, medium: Medium): number | null => {
    const tokens: unknown = Reflect.get(details, `${medium}_tokens`)
    return isCount(tokens) ? tokens : null
  }
  return eachMedium((medium) => ({
    input: byModality(of.promptTokensDetails, of.promptTokenCount, medium) ?? count(prompt, medium),
    output: byModality(of.candidatesTokensDetails, of.candidatesTokenCount, medium) ?? count(answer, medium),
  }))
}

/** Tokens of a medium in the counts of a Gemini reply. Null where it has none, or they may be among those that it lacks. */
function byModality(details: unknown, all: unknown, medium: Medium): number | null {
  if (!Array.isArray(details)) return null
  const counts = details
    .map(objectOf)
    .map(({ modality, tokenCount }: { modality?: unknown; tokenCount?: unknown }) => ({
      isOfMedium: modality === medium.toUpperCase(),
      tokens: countOf(tokenCount),
    }))
  const sum = (some: typeof counts): number => some.reduce((tokens, one) => tokens + one.tokens, 0)
  const counted = sum(counts.filter(({ isOfMedium }) => isOfMedium))
  return counted === 0 && sum(counts) < countOf(all) ? null : counted
}

/** Usage of one model within an answer. */
export interface UsagePart {
  /** Id of the model. Null for the one that was asked. */
  model: string | null
  usage: Usage
}

/** Iterations whose tokens the totals of a Message include. */
const IN_TOTALS: ReadonlySet<unknown> = new Set(['message', 'fallback_message'])

/**
 * Reads the parts of an answer's usage: the `iterations` of a Message, which name their models. Compactions of the
 * context and advisors are in them alone, and not in the totals.
 *
 * @returns null where the totals are all
 */
export function usageParts(reported: unknown): UsagePart[] | null {
  const { iterations }: Reported = objectOf(reported)
  if (!Array.isArray(iterations)) return null
  const read = iterations.flatMap((iteration: unknown) => {
    const { type, model }: { type?: unknown; model?: unknown } = objectOf(iteration)
    const usage = readTotals(objectOf(iteration))
    return usage === null ? [] : [{ type, model: typeof model === 'string' ? model : null, usage }]
  })
  const beside = read.filter(({ type }) => !IN_TOTALS.has(type))
  const within = read.filter(({ type }) => IN_TOTALS.has(type))
  const totals = readTotals(objectOf(reported))
  const listed = within.length === 0 ? null : within.map(({ usage }) => usage).reduce(added)
  // A list that leaves something out does not replace the totals.
  const isWhole = totals === null || (listed !== null && listed.total_tokens >= totals.total_tokens)
  const parts = [...(isWhole ? within : [{ model: null, usage: totals }]), ...beside]
  return parts.length === 0 ? null : parts.map(({ model, usage }) => ({ model, usage }))
}

/** Sum of two usages. */
function added(one: Usage, other: Usage): Usage {
  const sum = (of: (usage: Usage) => number | undefined) => (of(one) ?? 0) + (of(other) ?? 0)
  const parts = {
    cached_tokens: sum((usage) => usage.cached_tokens),
    cache_write_tokens: sum((usage) => usage.cache_write_tokens),
    cache_write_1h_tokens: sum((usage) => usage.cache_write_1h_tokens),
  }
  return {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    ...Object.fromEntries(Object.entries(parts).filter(([, count]) => count > 0)),
  }
}

function readTotals(reported: object): Usage | null {
  const [prompt, completion] = countsOfChat(reported) ??
    countsOfResponse(reported) ??
    countsOfContent(reported) ?? [null, null]
  if (prompt === null || prompt + completion === 0) return null
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...cacheCounts(reported, prompt),
  }
}

type Counts = [prompt: number, completion: number]

/** Usage fields of every shape, unchecked. */
interface Reported {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  total_tokens?: unknown
  completion_tokens_details?: unknown
  prompt_tokens_details?: unknown
  /** DeepSeek's name for cached tokens. */
  prompt_cache_hit_tokens?: unknown
  input_tokens?: unknown
  output_tokens?: unknown
  input_tokens_details?: unknown
  /** Names of transcriptions and of the realtime API. */
  input_token_details?: unknown
  output_token_details?: unknown
  output_tokens_details?: unknown
  cache_read_input_tokens?: unknown
  cache_creation_input_tokens?: unknown
  cache_creation?: unknown
  iterations?: unknown
  /** Google's own API. The results of its tools are prompt, thoughts are answer. */
  promptTokenCount?: unknown
  toolUsePromptTokenCount?: unknown
  candidatesTokenCount?: unknown
  thoughtsTokenCount?: unknown
  totalTokenCount?: unknown
  cachedContentTokenCount?: unknown
  promptTokensDetails?: unknown
  candidatesTokensDetails?: unknown
}

/** Prompt details of chat completions and Responses. */
interface PromptDetails {
  cached_tokens?: unknown
  cache_write_tokens?: unknown
  cache_write_1h_tokens?: unknown
}

/** Checked by hand, as for a Response: a schema is measurably slower on this hot path. */
function countsOfChat(reported: Reported): Counts | null {
  // Embeddings have no completion.
  const { prompt_tokens: prompt, completion_tokens: completion = 0, total_tokens: total = 0 } = reported
  if (!isCount(prompt) || !isCount(completion) || !isCount(total)) return null
  if (!hasCounts(reported.completion_tokens_details)) return null
  return [prompt, withRest(prompt, completion, total)]
}

function countsOfResponse(reported: Reported): Counts | null {
  const { output_tokens: output, total_tokens: total } = reported
  const input = inputOf(reported)
  if (input === null || !isCount(output)) return null
  return [input, isCount(total) ? withRest(input, output, total) : output]
}

/** Counts of a Gemini reply, where those that are 0 are missing. */
function countsOfContent(reported: Reported): Counts | null {
  const { promptTokenCount: prompt = 0, toolUsePromptTokenCount: results = 0 } = reported
  const { candidatesTokenCount: said = 0, thoughtsTokenCount: thought = 0, totalTokenCount: total = 0 } = reported
  if (!isCount(prompt) || !isCount(results) || !isCount(said) || !isCount(thought) || !isCount(total)) return null
  return [prompt + results, withRest(prompt + results, said + thought, total)]
}

/** Sums the input of a Message, which counts cache reads and writes apart. */
function inputOf({ input_tokens, cache_read_input_tokens, cache_creation_input_tokens }: Reported): number | null {
  const [input, read, created] = [input_tokens, cache_read_input_tokens ?? 0, cache_creation_input_tokens ?? 0]
  return isCount(input) && isCount(read) && isCount(created) ? input + read + created : null
}

type CacheCounts = Pick<Usage, 'cached_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens'>

/** Prompt tokens read from or written to the cache. Counts above the prompt earn no discount. */
function cacheCounts(reported: Reported, prompt: number): CacheCounts {
  const details: PromptDetails = objectOf(reported.prompt_tokens_details ?? reported.input_tokens_details)
  const { cache_read_input_tokens, prompt_cache_hit_tokens, cachedContentTokenCount } = reported
  const read = details.cached_tokens ?? cache_read_input_tokens ?? prompt_cache_hit_tokens ?? cachedContentTokenCount
  const written = Math.min(countOf(details.cache_write_tokens ?? reported.cache_creation_input_tokens), prompt)
  const { ephemeral_1h_input_tokens: hour }: { ephemeral_1h_input_tokens?: unknown } = objectOf(reported.cache_creation)
  const forAnHour = Math.min(countOf(details.cache_write_1h_tokens ?? hour), written)
  const cached = countOf(read)
  return {
    ...(cached > 0 && cached + written <= prompt && { cached_tokens: cached }),
    ...(written > 0 && { cache_write_tokens: written }),
    ...(forAnHour > 0 && { cache_write_1h_tokens: forAnHour }),
  }
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

const countOf = (value: unknown): number => (isCount(value) ? value : 0)

/** Completion with the tokens that appear in the total only: xAI omits reasoning, and Gemini thoughts. */
const withRest = (prompt: number, completion: number, total: number): number => Math.max(completion, total - prompt)

/** Tells whether reported reasoning counts are plausible. Absent ones are. */
function hasCounts(details: unknown): boolean {
  if (details === undefined || details === null) return true
  if (typeof details !== 'object') return false
  return isCount((details as { reasoning_tokens?: unknown }).reasoning_tokens ?? 0)
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
