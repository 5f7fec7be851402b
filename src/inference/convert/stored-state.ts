import { asText, type Loose, record, records } from './loose.ts'

/** Fields that name what the upstream keeps: an earlier response, a conversation, a prompt. */
const STORED = ['previous_response_id', 'conversation', 'prompt']

/** Items that stand for a history which the upstream alone can read, by their names in the API and in Codex; or that ask for one. */
const COMPACTED: ReadonlySet<unknown> = new Set([
  'compaction',
  'compaction_summary',
  'context_compaction',
  'compaction_trigger',
])

/**
 * Whether a Responses request counts on what its upstream has stored, or has put into an item that nobody else can read.
 * Chat completions know nothing of that: what they would answer is another question.
 */
export function countsOnStored(request: object): boolean {
  const given: Loose = record(request)
  return STORED.some((name) => (given[name] ?? null) !== null) || records(given.input).some(isStored)
}

const isStored = (item: Loose): boolean => COMPACTED.has(item.type) || isReference(item)

/** An item that the upstream has; its type may be left out, and an id is then all that it holds. */
function isReference({ type, id, role }: Loose): boolean {
  const isTyped = (type ?? null) !== null
  const isOne = type === 'item_reference' || (!isTyped && role === undefined && id !== undefined)
  // Reasoning is left out as an item, too: the question is the same without it.
  return isOne && !asText(id).startsWith('rs_')
}
