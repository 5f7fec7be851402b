import type { FeeUnit } from '../../providers/priced-fields.ts'
import { statedCost } from '../../providers/stated-cost.ts'
import type { TierFields } from '../../providers/tiers.ts'
import { type MediaTokens, mediaTokens, type UsagePart, usageParts } from '../../providers/token-usage.ts'
import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Micros } from '../../text/money.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { type ChatTools, createChatTools } from './chat-tools.ts'

/** Terms of the price that an answer states, beside its tokens. */
export interface ReportedTerms {
  /** Id of the model that answered. Null when the answer names none. */
  model: string | null
  /** Tier, speed and region that answered. */
  tier: TierFields
  /** Tokens by the model that used them. Null when one used all. */
  parts: readonly UsagePart[] | null
  /** Tokens of speech, images and videos in the prompt and in the answer. */
  media: MediaTokens
  /** Uses of tools with a fee. */
  uses: Uses
  /** Cost that the provider states, in micro-dollars. Null when it states none. */
  stated: Micros | null
}

/** Number of uses by what is charged. */
export type Uses = Readonly<Partial<Record<FeeUnit, number>>>

/** Items of a Response that are uses of a tool with a fee. */
const ITEMS: Readonly<Record<string, FeeUnit>> = {
  web_search_call: 'search',
  x_search_call: 'search',
  file_search_call: 'file_search',
  code_interpreter_call: 'code',
  shell_call: 'code',
  image_generation_call: 'tool_image',
}

/** Largest plausible number of uses. */
const MOST_USES = 10_000
/** Largest plausible number of tokens of images. */
const MOST_TOKENS = 10_000_000
/** Largest plausible length of a recording: a month. */
const MOST_SECONDS = 2_678_400

/**
 * Reads the terms of a whole answer, or of the event of a stream that reports its usage: a chat completion, a Response,
 * a Message or a Gemini reply.
 *
 * @param chatTools tools in the chunks of a stream; those of the answer by default
 */
export function readTerms(answer: unknown, usage: unknown, chatTools?: ChatTools): ReportedTerms {
  const { modelVersion, model = modelVersion, service_tier } = fieldsOrNone(answer)
  const used = fieldsOrNone(usage)
  return {
    model: typeof model === 'string' && model !== '' ? model : null,
    tier: {
      service_tier: service_tier ?? used.service_tier ?? used.serviceTier,
      speed: used.speed,
      inference_geo: used.inference_geo,
    },
    parts: usageParts(usage),
    media: mediaTokens(usage),
    uses: heardIn(used) ?? countedIn(used, fieldsOrNone(answer), chatTools),
    stated: statedCost(usage),
  }
}

/** Length of a recording, as the usage of OpenAI or Mistral states it. Null where it states none. */
function heardIn({ type, seconds, prompt_audio_seconds }: Fields): Uses | null {
  return secondsOf(type === 'duration' ? seconds : prompt_audio_seconds)
}

/** Seconds of a recording as its uses. Null for none. */
export function secondsOf(value: unknown): Uses | null {
  const seconds = Math.ceil(Number(value))
  return seconds > 0 && seconds <= MOST_SECONDS ? { audio_second: seconds } : null
}

/**
 * Uses of tools with a fee, by the names under which the request's tools are charged: searches of OpenAI's earlier tool,
 * and of its chat models that search, of which each answer has one. A search of Gemini that its answer does not show
 * counts as one, too.
 */
export function usesIn(request: unknown, counted: Uses): Uses {
  const { tools, web_search_options } = fieldsOrNone(request)
  const { search = 0, ...others } = counted
  if (search === 0 && (web_search_options ?? null) !== null) return { ...others, preview_search: 1 }
  if (search === 0 && objectsOrNone(tools).some(({ type }) => String(type).startsWith('google_')))
    return { ...others, search: 1 }
  const isPreview = objectsOrNone(tools).some(({ type }) => String(type).startsWith('web_search_preview'))
  return isPreview ? { ...others, preview_search: search } : counted
}

function toolsOf({ choices, candidates }: Fields): ChatTools {
  const tools = createChatTools()
  tools.read(choices ?? candidates)
  return tools
}

/** Uses that the usage counts (Anthropic, OpenRouter, xAI), else those in a chat completion, or the items of a Response. */
function countedIn(usage: Fields, answer: Fields, chatTools: ChatTools | undefined): Uses {
  const { output, tool_usage, model, modelVersion } = answer
  const counts = usage.server_tool_use ?? usage.server_tool_use_details ?? usage.server_side_tool_usage_details
  const counted = isObject(counts) ? usesCounted(counts) : null
  if (counted !== null) return counted
  if (output === undefined) return (chatTools ?? toolsOf(answer)).uses(model ?? modelVersion)
  return withImageTokens(itemsIn(output), fieldsOrNone(fieldsOrNone(tool_usage).image_gen))
}

/** Uses in the counts of a usage. Null when all are 0. */
function usesCounted(counts: Fields): Uses | null {
  const { web_search_requests, web_search_calls, x_search_calls, file_search_calls, code_interpreter_calls } = counts
  const counted = {
    search: countOf(web_search_requests) + countOf(web_search_calls) + countOf(x_search_calls),
    file_search: countOf(file_search_calls),
    code: countOf(code_interpreter_calls),
  }
  return Object.values(counted).some((count) => count > 0) ? counted : null
}

/** Replaces images that a tool made by their tokens, where a Response counts them. */
function withImageTokens(uses: Uses, { input_tokens: input, output_tokens: output }: Fields): Uses {
  const tokens = countOf(output, MOST_TOKENS)
  if (tokens === 0) return uses
  const { tool_image: _, ...others } = uses
  return { ...others, tool_image_input_token: countOf(input, MOST_TOKENS), tool_image_output_token: tokens }
}

/**
 * Counts the items of a Response. Pages that were opened are no searches, a container is used by several calls, and a
 * shell without one is the client's.
 */
function itemsIn(output: unknown): Uses {
  const uses: Partial<Record<FeeUnit, number>> = {}
  const containers = new Set<unknown>()
  for (const { type, action, environment, container_id = fieldsOrNone(environment).container_id } of objectsOrNone(
    output,
  )) {
    const unit = Object.hasOwn(ITEMS, String(type)) ? ITEMS[String(type)] : undefined
    if (unit === undefined || (fieldsOrNone(action).type ?? 'search') !== 'search') continue
    if (type === 'shell_call' && container_id === undefined) continue
    if (unit === 'code' && containers.has(container_id)) continue
    if (unit === 'code') containers.add(container_id)
    uses[unit] = (uses[unit] ?? 0) + 1
  }
  return uses
}

const countOf = (value: unknown, most = MOST_USES): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? Math.min(value as number, most) : 0
