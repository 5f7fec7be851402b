import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Part of the limit of an answer that a thinking budget may take: the answer needs the rest. */
const MOST_OF_LIMIT = 0.5
/** Least thinking budget of Messages, in tokens. */
const LEAST_BUDGET = 1024
/** Thinking budgets by effort, in tokens. */
const BUDGETS: ReadonlyArray<readonly [effort: string, tokens: number]> = [
  ['minimal', 1024],
  ['low', 4096],
  ['medium', 10_000],
  ['high', 32_000],
  ['xhigh', 32_000],
]
/** Efforts above `high`, which few models of chat completions know. */
const ABOVE_HIGH: ReadonlySet<unknown> = new Set(['xhigh', 'max'])
/** Models that are known to take `reasoning_effort`; others may refuse a request that has it. */
const TAKE_EFFORT =
  /(?:^|\/)(?:gpt-5(?!.*chat)|gpt-oss|o[34](?:-mini)?(?:-20|$)|gemini-(?:2\.5|[3-9])|deepseek-(?:v[4-9]|flash))/
/** Version in the id of a Claude model: `claude-opus-4-6`, `claude-3-7-sonnet-latest`, `claude-4.5-haiku-20251001`. */
const VERSION = /claude-(?:[a-z]+-)?(\d+)(?:[.-](\d{1,2}))?(?!\d)/
/** First Claude that thinks, first that thinks as much as its effort says, and first that knows `xhigh`. */
const [THINKS, ADAPTS, KNOWS_XHIGH] = [307, 406, 407]

/**
 * Effort of a Messages request, as `reasoning_effort` of chat completions. Undefined where it asks for none, or the model
 * is not known to take one.
 *
 * @param model id at the upstream
 * @example effortOf({ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'gpt-5.5') // 'medium'
 */
export function effortOf({ thinking, output_config }: Fields, model: string): string | undefined {
  const { type, budget_tokens: budget } = fieldsOrNone(thinking)
  const { effort } = fieldsOrNone(output_config)
  if (type === 'disabled' || !TAKE_EFFORT.test(model)) return undefined
  if (typeof effort === 'string') return ABOVE_HIGH.has(effort) ? 'high' : effort
  if (typeof budget !== 'number') return undefined
  return BUDGETS.find(([name, tokens]) => name !== 'minimal' && budget <= tokens)?.[0] ?? 'high'
}

/** Efforts of chat completions, by Google's levels of thinking. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['XHIGH', 'high'],
])
/** Models that think as a Messages request says: the effort becomes their thinking. */
const CLAUDE = /claude/i

/**
 * Effort of a Gemini request, as `reasoning_effort` of chat completions. Undefined where it leaves it to the model, or the
 * model is not known to take one.
 *
 * @param model id at the upstream
 * @example effortOfThinking({ thinkingBudget: 8192 }, 'gpt-5.5') // 'medium'
 */
export function effortOfThinking({ thinkingLevel, thinkingBudget: budget }: Fields, model: string): string | undefined {
  if (!TAKE_EFFORT.test(model) && !CLAUDE.test(model)) return undefined
  if (typeof thinkingLevel === 'string') return LEVELS.get(thinkingLevel.toUpperCase())
  // A budget of 0 turns thinking off where that can be; -1 leaves it to the model.
  if (typeof budget !== 'number' || budget < 0) return undefined
  if (budget === 0) return CLAUDE.test(model) ? 'none' : 'minimal'
  return BUDGETS.find(([name, tokens]) => name !== 'minimal' && budget <= tokens)?.[0] ?? 'high'
}

/**
 * Thinking of a Messages request for an effort: adaptive for Claude 4.6 and later, with a budget for earlier ones and other
 * models. Empty where it would be refused: beside a chosen tool, another temperature, a short limit or a prefill, and with
 * a budget after tool calls without their thinking
 * (https://docs.claude.com/en/docs/build-with-claude/extended-thinking).
 *
 * @param effort `reasoning_effort` of chat completions
 * @param model id at the upstream
 * @param request the converted request
 */
export function thinkingFor(effort: string, model: string, request: Fields): Fields {
  const known = BUDGETS.find(([name]) => name === effort)
  const version = versionOf(model)
  const messages = objectsOrNone(request.messages)
  if (known === undefined || version < THINKS || !allowsThinking(request, messages)) return {}
  if (version >= ADAPTS) {
    const words: Readonly<Record<string, string>> = { minimal: 'low', xhigh: version < KNOWS_XHIGH ? 'max' : 'xhigh' }
    const output_config = { ...fieldsOrNone(request.output_config), effort: words[effort] ?? effort }
    return { thinking: { type: 'adaptive' }, output_config }
  }
  const budget_tokens = Math.min(known[1], Math.floor(Number(request.max_tokens) * MOST_OF_LIMIT))
  if (budget_tokens < LEAST_BUDGET || lacksThinking(messages)) return {}
  return { thinking: { type: 'enabled', budget_tokens } }
}

/** Version of a Claude, 407 for 4.7. That of one without a number is the latest, that of another model 4.5. */
function versionOf(model: string): number {
  if (!model.includes('claude')) return ADAPTS - 1
  const [, major, minor] = VERSION.exec(model) ?? []
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor ?? 0)
}

function allowsThinking({ temperature, top_p, top_k, tool_choice }: Fields, messages: Fields[]): boolean {
  const { type } = fieldsOrNone(tool_choice)
  const isSampled = (temperature ?? 1) !== 1 || (top_p ?? 1) !== 1 || (top_k ?? null) !== null
  return !isSampled && type !== 'any' && type !== 'tool' && messages.at(-1)?.role !== 'assistant'
}

/** Tells whether the turn that goes on with tool results does not begin with thinking. */
function lacksThinking(messages: Fields[]): boolean {
  const last = messages.at(-1)
  const goesOn = objectsOrNone(last?.content).some(({ type }) => type === 'tool_result')
  const [first] = objectsOrNone(messages.at(-2)?.content)
  return goesOn && isObject(first) && !String(first.type).endsWith('thinking')
}
