import { feesOf, maxCost } from '../../providers/cost.ts'
import { type PricedModel, type Prices, priceOf } from '../../providers/prices.ts'
import type { Micros } from '../../text/money.ts'
import { limitsAt } from '../api/answer-limit.ts'
import { possibleMedia } from '../observe/carried-media.ts'
import { countLong, estimatePrompt, MEDIA_TOKENS } from '../observe/estimate.ts'
import { requestText } from '../observe/request-text.ts'
import { asciiOf, type ClientRequest } from '../relay/request-body.ts'
import { limitsOf, type ModelChoice } from '../upstreams/provider.ts'
import { ceilingFields, NO_CEILING } from './price-ceiling.ts'
import { NO_PARTS, type PricedParts } from './priced-parts.ts'
import { choicesOf, isOpen, largestOf, longestAnswers } from './requested-answers.ts'
import { type LongInput, linkedMedia, longInput, readsMore, repeatedQuery } from './unsent-input.ts'

/** Allowance for a provider's tokenizer that counts more than ours. */
const TOKENIZER_FACTOR = 1.25
/** Tokens that a provider adds around a prompt: its own instructions, roles, tool descriptions. */
const WRAPPING_TOKENS = 256
/** Answer tokens that a call gets, when its client sets no limit, even where they are more than its share of the budget. */
const SUITABLE_TOKENS = 8192
/** Lowest limit beside a prompt that fills its context by its upper bound. */
const SHORTEST_TOKENS = 1024

/** A request to keep the prompt in the provider's cache for an hour, which is written at a rate of its own. */
const KEPT_FOR_HOUR = /"ttl"\s*:\s*"1h"/iu
/** A letter or sign of ASCII in an escape: names of fields and hosts may be written so. Other letters are in none of them. */
const ESCAPED = /\\u00[2-7]/i

/** Dependencies of a bound. */
export interface BoundDeps {
  prices: Prices
  /** Answer tokens assumed for a call without a limit. */
  maxOutputTokens: number
  /** Tokens assumed when the provider reads more than the request contains: search results, files, earlier turns. */
  searchTokens: number
  countTokens(text: string): Promise<number>
}

/** Parts of a request that bound its cost. */
export type BoundedRequest = Pick<
  ClientRequest<{ [field: string]: unknown }>,
  'bytes' | 'text' | 'json' | 'outline' | 'edits'
>

/** Upper bound of a call's cost with a certain prompt, by the limit of its answer. */
export interface Quote {
  /** Cost with the lowest limit that suits the call, and with the highest. Equal when its client set one. */
  least: Micros
  most: Micros
  /** Highest limit per answer whose cost an amount covers. */
  limitFor(micros: Micros): number
}

/** Upper bound of a call's tokens and cost. */
export interface CallBound {
  /** True when a limit is sent for a client that sent none. */
  isLimited: boolean
  /** True when the client set a limit, which is sent. */
  isLimitedByClient: boolean
  /** Number of answers that the limit applies to. */
  answers: number
  /** Limit to send to one of the models. Null to send none. */
  limitAt(model: ModelChoice, limit: number): number | null
  /** Fields that tell one of the models' provider the highest prices that are reserved. Empty where it takes none. */
  ceilingAt(model: ModelChoice, sent: object): Readonly<Record<string, unknown>>
  /** Bound with a prompt of as many tokens as bytes: a token has at least one. Null when it may exceed the context. */
  quick: Quote | null
  /** True when the provider reads more than was sent: stored responses, files, links, search results. */
  readsMore: boolean
  /** Input of any length that the provider reads, for which its context is reserved. Null without one. */
  longInput: LongInput | null
  /** The same with the prompt counted: slower, and lower. */
  counted(): Promise<Quote>
  /** Cost of further answer tokens. */
  more(tokens: number): Micros
}

/** Quote of a call whose cost does not depend on a limit. */
const fixed = (micros: Micros, limit: number): Quote => ({ least: micros, most: micros, limitFor: () => limit })

const UNLIMITED = fixed(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)

/** Bound of a call without a reservation: unlimited. */
export const UNBOUNDED: CallBound = {
  isLimited: false,
  isLimitedByClient: false,
  answers: 1,
  limitAt: () => null,
  ceilingAt: () => NO_CEILING,
  quick: UNLIMITED,
  counted: async () => UNLIMITED,
  readsMore: false,
  longInput: null,
  more: () => Number.POSITIVE_INFINITY,
}

/**
 * Computes the bound of a call.
 *
 * @param endpoint path below `/v1`
 * @param models models that may answer: the requested one, its stand-ins, and those that the request names
 * @param parts what else the request adds to the cost
 */
export function boundOf(
  deps: BoundDeps,
  endpoint: string,
  request: BoundedRequest,
  models: readonly ModelChoice[],
  parts: PricedParts = NO_PARTS,
): CallBound {
  const { bytes, json } = request
  const ascii = asciiOf(request)
  const plain = ESCAPED.test(ascii) ? JSON.stringify(json) : ascii
  const media = possibleMedia(endpoint, json)
  const priced = { tiers: parts.tiers, isKeptForHour: KEPT_FOR_HOUR.test(plain), media }
  const long = longInput(json, models)
  const unsent = long?.tokens ?? 0
  const cost = (prompt: number, answer: number, wholePrompt = prompt + unsent): Micros =>
    maxCost({ prompt, answer, wholePrompt, ...priced }, models, deps.prices)
  const besideCost = (prompt: number): Micros =>
    sum(
      parts.beside.map(
        ({ model, runs, answer }) => runs * maxCost({ prompt, answer, ...priced }, [model], deps.prices),
      ),
    )
  const pieces = piecesCost(endpoint, { bytes, json }, models, deps.prices)
  const unsentCost =
    long === null
      ? 0
      : maxCost({ prompt: 0, answer: 0, [long.isCached ? 'cached' : 'prompt']: unsent, ...priced }, models, deps.prices)
  const fees =
    pieces + unsentCost + sum(parts.uses.map(({ unit, model, times }) => feesOf(unit, times, model, deps.prices)))
  const isLimited = isOpen(endpoint, json) && models.some((model) => takesLimit(model, deps.prices))
  const { limit: fixedLimit, answers } = longestAnswers(deps, endpoint, json)
  const isMoreRead = parts.uses.length > 0 || readsMore(plain, json)
  const linked = linkedMedia(plain)
  const beside = WRAPPING_TOKENS + (isMoreRead ? deps.searchTokens : 0) + linked * MEDIA_TOKENS + repeatedQuery(json)
  const promptTokens = bytes.length + beside

  function quote(prompt: number): Quote {
    const beside = besideCost(prompt) + fees
    const costOf = (limit: number) =>
      cost(prompt, Math.max(limit, parts.longestInstead) * answers + parts.predicted) + beside
    if (!isLimited) return fixed(costOf(fixedLimit), fixedLimit)
    const longest = longestAnswer(models, prompt, deps.maxOutputTokens)
    const shortest = Math.min(longest, SUITABLE_TOKENS)
    const most = costOf(longest)
    return {
      least: costOf(shortest),
      most,
      limitFor: (micros) => (micros >= most ? longest : highest(shortest, longest, (limit) => costOf(limit) <= micros)),
    }
  }
  return {
    isLimited,
    isLimitedByClient: largestOf(limitsAt(endpoint), json) !== null,
    answers,
    limitAt: (model, limit) =>
      takesLimit(model, deps.prices) ? Math.min(limit, limitsOf(model).maxOutput ?? deps.maxOutputTokens) : null,
    quick: isLimited && models.some((model) => isFilled(model, promptTokens)) ? null : quote(promptTokens),
    ceilingAt: (model, sent) => ceilingFields(model, sent, { models, promptTokens, tiers: parts.tiers }, deps.prices),
    readsMore: isMoreRead || long !== null || linked > 0 || parts.beside.length > 0,
    counted: countingOf(deps, request, (tokens) =>
      quote(Math.min(promptTokens, Math.ceil(tokens * TOKENIZER_FACTOR) + beside)),
    ),
    more: (tokens) => cost(0, tokens, promptTokens + unsent),
    longInput: long,
  }
}

/** Creates the function that counts a prompt. It alone has the request in its scope, which the rest of a bound outlives. */
const countingOf =
  ({ countTokens }: BoundDeps, { text, json }: BoundedRequest, quoteOf: (tokens: number) => Quote) =>
  async (): Promise<Quote> => {
    // A body that is not JSON, such as a recording, has no text to count.
    if (text === '') return quoteOf(Number.POSITIVE_INFINITY)
    const { text: prompt, media } = await requestText(json)
    return quoteOf((await countLong(countTokens, prompt)) + media * MEDIA_TOKENS)
  }

/** Tokens of a second of a recording, whose bytes were counted as tokens. */
const TOKENS_PER_SECOND = 10

/** Most that images, or the seconds of a recording, may cost where they have a price by the piece. */
function piecesCost(
  endpoint: string,
  { bytes, json }: Pick<BoundedRequest, 'bytes' | 'json'>,
  models: readonly ModelChoice[],
  prices: Prices,
): Micros {
  const most = (unit: 'image' | 'audio_second', times: number): Micros =>
    Math.max(...models.map((model) => feesOf(unit, times, model, prices)))
  if (endpoint === '/images/generations') return most('image', choicesOf(json))
  if (!endpoint.startsWith('/audio/')) return 0
  return most('audio_second', Math.ceil(bytes.length / TOKENS_PER_SECOND))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Tells whether a model is sent a limit that its client did not set. A server of one's own without a price is not. */
const takesLimit = (model: ModelChoice, prices: Prices): boolean =>
  model.isLocal !== true || priceOf(model, prices).from === 'configuration'

/** Longest answer that one of the models may give after a prompt. */
const longestAnswer = (models: readonly ModelChoice[], prompt: number, unknown: number): number =>
  Math.max(
    ...models.map((model) => {
      const { maxOutput, context } = limitsOf(model)
      const room = context === null ? Infinity : Math.max(context - prompt, SHORTEST_TOKENS)
      return Math.min(maxOutput ?? unknown, room)
    }),
  )

/** Tells whether a prompt leaves less of a model's context than its longest answer. */
function isFilled(model: ModelChoice, prompt: number): boolean {
  const { maxOutput, context } = limitsOf(model)
  return context !== null && context - prompt < (maxOutput ?? SUITABLE_TOKENS)
}

/** Highest number that fits, of which the lowest does. */
function highest(lowest: number, most: number, fits: (at: number) => boolean): number {
  let [low, high] = [lowest, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Computes the bound of a call with one prompt of text, which is counted.
 *
 * @param answerTokens most tokens to generate
 * @param isSearching true when the call has search tools
 * @param models models that may answer: the requested one, and the fallback
 */
export async function boundOfPrompt(
  { prices, searchTokens, countTokens }: Pick<BoundDeps, 'prices' | 'searchTokens' | 'countTokens'>,
  { prompt, answerTokens, isSearching }: { prompt: string; answerTokens: number; isSearching: boolean },
  models: readonly PricedModel[],
): Promise<CallBound & { quick: Quote }> {
  const counted = Math.ceil((await estimatePrompt(countTokens, prompt)) * TOKENIZER_FACTOR)
  const promptTokens = counted + WRAPPING_TOKENS + (isSearching ? searchTokens : 0)
  const quick = fixed(maxCost({ prompt: promptTokens, answer: answerTokens }, models, prices), answerTokens)
  return {
    isLimited: false,
    isLimitedByClient: true,
    answers: 1,
    limitAt: () => null,
    ceilingAt: () => NO_CEILING,
    quick,
    counted: async () => quick,
    readsMore: isSearching,
    longInput: null,
    more: (tokens) => maxCost({ prompt: 0, answer: tokens, wholePrompt: promptTokens }, models, prices),
  }
}
