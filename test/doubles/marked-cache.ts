import type { PromptCache } from './prompt-cache.ts'

type Block = Record<string, unknown>

/** Letters that stand for a token. */
const LETTERS = 4
/** Blocks before a mark within which Anthropic looks for what it has kept. */
const LOOKED_BACK = 20

/** A Messages request, as far as its prompt goes. */
export interface MarkedPrompt {
  tools?: Block[]
  system?: string | Block[]
  messages: { role: string; content: string | Block[] }[]
}

/**
 * Creates a cache that finds the beginnings of prompts as Anthropic does: those that end at a mark of an earlier request
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */
export function createMarkedCache(): (prompt: MarkedPrompt) => ReturnType<PromptCache> {
  const kept = new Set<string>()
  return ({ tools = [], system = [], messages }) => {
    const blocks = [
      ...tools,
      ...listOf(system),
      ...messages.flatMap(({ role, content }) => listOf(content).map((block) => ({ role, ...block }))),
    ]
    let text = ''
    const beginnings = blocks.map((block) => {
      const { cache_control: _, ...rest } = block as Block
      text += JSON.stringify(rest)
      return text
    })
    const marks = blocks.flatMap((block, index) => ((block as Block).cache_control ? [index] : []))
    if (marks.length > 4) throw new Error('A request may have 4 marks.')
    const isNear = (index: number) => marks.some((mark) => mark >= index && mark - index <= LOOKED_BACK)
    const found = beginnings.findLast((beginning, index) => isNear(index) && kept.has(beginning)) ?? ''
    for (const mark of marks) kept.add(beginnings[mark] as string)
    return { prompt: Math.ceil(text.length / LETTERS), cached: Math.floor(found.length / LETTERS) }
  }
}

const listOf = (content: string | Block[]): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content
