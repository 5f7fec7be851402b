/** Letters that stand for a token. */
const LETTERS = 4
/** Tokens by which a cached beginning grows, and the shortest one (https://platform.openai.com/docs/guides/prompt-caching). */
const STEP = 128
const SHORTEST = 1024

/** Finds the tokens of a prompt, and those of its beginning that came before under the same key. */
export type PromptCache = (key: string, prompt: string) => { prompt: number; cached: number }

/** Creates a cache that finds the beginnings of prompts as providers do. */
export function createPromptCache(): PromptCache {
  const known = new Map<string, string[]>()
  return (key, prompt) => {
    const before = known.get(key) ?? []
    known.set(key, [...before, prompt])
    const shared = Math.max(0, ...before.map((other) => sharedLength(other, prompt)))
    const cached = Math.floor(shared / LETTERS / STEP) * STEP
    return { prompt: Math.ceil(prompt.length / LETTERS), cached: cached < SHORTEST ? 0 : cached }
  }
}

/** The prompt that a provider makes of a request: tools, then instructions, then the turns. Marks are none of it. */
export const promptOf = ({
  tools,
  system,
  messages,
}: {
  tools?: unknown
  system?: unknown
  messages: unknown
}): string => JSON.stringify([tools, system, messages], (name, value) => (name === 'cache_control' ? undefined : value))

function sharedLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}
