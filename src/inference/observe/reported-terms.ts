import type { FeeUnit } from '../../providers/priced-fields.ts'
import { statedCost } from '../../providers/stated-cost.ts'
import type { TierFields } from '../../providers/tiers.ts'
import { type UsagePart, usageParts } from '../../providers/token-usage.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Micros } from '../../text/money.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Terms of the price that an answer states, beside its tokens. */
export interface ReportedTerms {
  /** Id of the model that answered. Null when the answer names none. */
  model: string | null
  /** Tier, speed and region that answered. */
  tier: TierFields
  /** Tokens by the model that used them. Null when one used all. */
  parts: readonly UsagePart[] | null
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
  image_generation_call: 'tool_image',
}

/** Largest plausible number of uses. */
const MOST_USES = 10_000

/**
 * Reads the terms of a whole answer, or of the event of a stream that reports its usage: a chat completion, a Response
 * or a Message.
 */
export function readTerms(answer: unknown, usage: unknown): ReportedTerms {
  const { model, service_tier, output } = fieldsOrNone(answer)
  const used = fieldsOrNone(usage)
  return {
    model: typeof model === 'string' && model !== '' ? model : null,
    tier: {
      service_tier: service_tier ?? used.service_tier,
      speed: used.speed,
      inference_geo: used.inference_geo,
    },
    parts: usageParts(usage),
    uses: used.type === 'duration' ? { audio_second: Math.ceil(Number(used.seconds) || 0) } : countedIn(used, output),
    stated: statedCost(usage),
  }
}

/**
 * Uses of tools with a fee, by the names under which the request's tools are charged: searches of OpenAI's earlier tool,
 * and of its chat models that search, of which each answer has one.
 */
export function usesIn(request: unknown, counted: Uses): Uses {
  const { tools, web_search_options } = fieldsOrNone(request)
  const { search = 0, ...others } = counted
  if (search === 0 && (web_search_options ?? null) !== null) return { ...others, preview_search: 1 }
  const isPreview = objectsOrNone(tools).some(({ type }) => String(type).startsWith('web_search_preview'))
  return isPreview ? { ...others, preview_search: search } : counted
}

/** Uses that the usage counts (Anthropic, OpenRouter, xAI), else the items of a Response. */
function countedIn(usage: Fields, output: unknown): Uses {
  const counts = usage.server_tool_use ?? usage.server_tool_use_details ?? usage.server_side_tool_usage_details
  const { web_search_requests, web_search_calls, x_search_calls, file_search_calls, code_interpreter_calls } =
    fieldsOrNone(counts)
  const counted: Uses = {
    search: countOf(web_search_requests) + countOf(web_search_calls) + countOf(x_search_calls),
    file_search: countOf(file_search_calls),
    code: countOf(code_interpreter_calls),
  }
  return Object.values(counted).some((count) => count > 0) ? counted : itemsIn(output)
}

/** Counts the items of a Response. Pages that were opened are no searches, and a container is used by several calls. */
function itemsIn(output: unknown): Uses {
  const uses: Partial<Record<FeeUnit, number>> = {}
  const containers = new Set<unknown>()
  for (const { type, action, container_id } of objectsOrNone(output)) {
    const unit = Object.hasOwn(ITEMS, String(type)) ? ITEMS[String(type)] : undefined
    if (unit === undefined || (fieldsOrNone(action).type ?? 'search') !== 'search') continue
    if (unit === 'code' && containers.has(container_id)) continue
    if (unit === 'code') containers.add(container_id)
    uses[unit] = (uses[unit] ?? 0) + 1
  }
  return uses
}

const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? Math.min(value as number, MOST_USES) : 0
