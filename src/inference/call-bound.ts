import { GazewayError } from '../errors.ts'
import { mostCost, type PricedModel, type Prices } from '../providers/prices.ts'
import type { Micros } from '../text/money.ts'
import { ANSWER_LIMITS, limitsAt } from './answer-limit.ts'
import { records } from './convert/loose.ts'
import { countLong, MEDIA_TOKENS } from './estimate.ts'
import { INPUT_ALONE } from './passed-paths.ts'
import { requestText } from './request-text.ts'

/** Another tokenizer than ours may count more. */
const TOKENIZER_FACTOR = 1.25
/** What a provider puts around a prompt (its own instructions, roles, tool descriptions), in tokens. */
const WRAPPING_TOKENS = 256
/** What a request may name in place of its text, which the provider then reads; documents may be named by their URL. */
const NAMED_INPUT =
  /"(?:previous_response_id|conversation|file_id|file_url|vector_store_ids|prompt|mcp_servers)"\s*:|"type"\s*:\s*"document"/
/** Media that come by their address, not in the request. */
const LINKED_MEDIUM = /"(?:image_url|url|file_url)"\s*:\s*"https?:|"url"\s*:\s*"https?:/g

/** What a call is reckoned with. */
export interface BoundDeps {
  prices: Prices
  /** Tokens of the answer of a call that names no limit. */
  maxOutputTokens: number
  /** Tokens that are reckoned with where the provider reads more than the request holds: search results, files, earlier turns. */
  searchTokens: number
  countTokens(text: string): Promise<number>
}

/** A request as far as its cost is bounded by it. */
export interface BoundedRequest {
  bytes: Buffer
  text: string
  json: { [field: string]: unknown }
}

/** The most tokens that a request may lead to, and what they cost. */
export interface CallBound {
  /** Of the prompt, by its bytes: a token has at least one. */
  promptTokens: number
  /** Of the answer, in all its choices. */
  answerTokens: number
  /** The limit of each choice that is to be sent; null where the client sent one. */
  answerLimit: number | null
  /** The most that it costs upstream. */
  micros: Micros
  /** The same with the prompt counted, which takes longer and is less. */
  counted(): Promise<Micros>
  /** What so many more tokens of the answer cost. */
  more(tokens: number): Micros
}

/** The bound of a call for which nothing is set aside: whatever it comes to. */
export const UNBOUNDED: CallBound = {
  promptTokens: Number.POSITIVE_INFINITY,
  answerTokens: Number.POSITIVE_INFINITY,
  answerLimit: null,
  micros: Number.POSITIVE_INFINITY,
  counted: async () => Number.POSITIVE_INFINITY,
  more: () => Number.POSITIVE_INFINITY,
}

/**
 * @param endpoint below `/v1`
 * @param models that may answer: the one asked for, and others that may stand in for it
 */
export function boundOf(
  deps: BoundDeps,
  endpoint: string,
  { bytes, text, json }: BoundedRequest,
  models: readonly PricedModel[],
): CallBound {
  const cost = (prompt: number, answer: number): Micros => mostCost({ prompt, answer }, models, deps.prices)
  const isInputAlone = INPUT_ALONE.has(endpoint)
  const known = limitsAt(endpoint)
  const sent = largestOf(known, json)
  // Where its name is not known, what is sent may be ignored.
  const limit =
    known.length > 0
      ? (sent ?? deps.maxOutputTokens)
      : Math.max(deps.maxOutputTokens, largestOf(ANSWER_LIMITS, json) ?? 0)
  const answerTokens = isInputAlone ? 0 : limit * choicesOf(json) * promptsOf(json)
  // Names can be written in escapes.
  const plain = text.includes('\\u') ? JSON.stringify(json) : text
  const beside =
    WRAPPING_TOKENS +
    (readsMore(plain, json) ? deps.searchTokens : 0) +
    linkedMedia(plain) * MEDIA_TOKENS +
    repeatedQuery(json)
  const promptTokens = bytes.length + beside
  return {
    promptTokens,
    answerTokens,
    answerLimit: sent === null ? limit : null,
    micros: cost(promptTokens, answerTokens),
    async counted() {
      // What is no JSON, such as a recording, has no text to count.
      if (text === '') return cost(promptTokens, answerTokens)
      const { text: said, media } = await requestText(json)
      const tokens = (await countLong(deps.countTokens, said)) + media * MEDIA_TOKENS
      return cost(Math.ceil(tokens * TOKENIZER_FACTOR) + beside, answerTokens)
    },
    more: (tokens) => cost(0, tokens),
  }
}

/** The fields by which a request is billed. */
const BILLED_BY = ['model', 'stream', 'n', 'best_of', ...ANSWER_LIMITS]

/** The fields by which a request is billed, as it has them: of one that comes twice, some servers take the other. */
export function billedFields(json: BoundedRequest['json']): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const name of BILLED_BY) if (json[name] !== undefined) fields[name] = json[name]
  return fields
}

/** What a request's cost is a multiple of. */
const COUNTS = [...ANSWER_LIMITS, 'n', 'best_of']

/**
 * Refuses counts that servers read differently: an answer of -1 tokens has no end for some, and `"128"` is a number.
 *
 * @throws GazewayError `validation_failed`
 */
export function requireCounts(json: BoundedRequest['json']): void {
  for (const name of COUNTS) {
    const value = json[name] ?? null
    if (value !== null && !(Number.isSafeInteger(value) && (value as number) > 0))
      throw new GazewayError('validation_failed', `${name}: accepted is a whole number above 0.`, { param: name })
  }
}

/** The largest of the limits of the answer that a request names; null where it names none. */
function largestOf(names: readonly string[], json: BoundedRequest['json']): number | null {
  const named = names.map((name) => json[name]).filter((value) => typeof value === 'number' && value > 0)
  return named.length === 0 ? null : Math.max(...(named as number[]))
}

const choicesOf = (json: BoundedRequest['json']): number => largestOf(['n', 'best_of'], json) ?? 1

/** How many prompts a completion of the older kind has, each with answers of its own; a list of tokens is one prompt. */
function promptsOf({ prompt }: BoundedRequest['json']): number {
  const several = Array.isArray(prompt) ? prompt.filter((one) => typeof one !== 'number').length : 1
  return Math.max(1, several)
}

/** Documents are ranked one by one, and some providers count the query with each: its bytes as often as they read it. */
function repeatedQuery({ query, documents }: BoundedRequest['json']): number {
  if (query === undefined || !Array.isArray(documents)) return 0
  return Buffer.byteLength(JSON.stringify(query)) * documents.length
}

/** Whether the provider reads more for it than it holds. */
function readsMore(text: string, { tools, web_search_options, search_parameters }: BoundedRequest['json']): boolean {
  if (web_search_options || search_parameters || NAMED_INPUT.test(text)) return true
  return records(tools).some(({ type }) => type !== undefined && type !== 'function' && type !== 'custom')
}

const linkedMedia = (text: string): number => (text.includes('url"') ? (text.match(LINKED_MEDIUM)?.length ?? 0) : 0)
