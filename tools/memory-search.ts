import * as z from 'zod'
import { Memory, MemorySearch } from '../src/memory/records/memory-record.ts'
import { plain } from '../src/text/single-line.ts'
import { createTokenCounter } from '../src/text/token-counter.ts'
import { callerProjects } from './caller-projects.ts'
import { defineTool } from './tool.ts'

/** Results by default, and those that weak ones fill up to. */
const BEST = 3
/** Characters per token in an excerpt. */
const CHARACTERS = 4
const EXCERPTS = { shortest: 100, longest: 2000 }

const Result = z.object({
  memory: Memory.pick({ key: true, namespace: true, project: true, tags: true, version: true }),
  score: z.number().describe('In (0, 1]: how well it matches; comparable between queries.'),
  weak: z.boolean().describe('It has few words of the query, and may be no answer.'),
  excerpt: z.string().describe('Part of the value around the first match. gateway_memory_recall has the whole.'),
})
type Result = z.infer<typeof Result>

const countTokens = createTokenCounter({ remember: 100 })

export const memorySearch = defineTool({
  name: 'gateway_memory_search',
  title: 'Search memories',
  description:
    'The memories of this project, and general ones, that best answer a question. Use it at the start of a task, before ' +
    'you ask a person or a model; not for text in files. weak: true: it has few words of the question; use it ' +
    'only if it answers. Example: query "staging cluster", tags ["deploy"].',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  isLarge: true,
  input: MemorySearch.omit({ from: true, to: true, project: true })
    .extend({
      limit: MemorySearch.shape.limit.unwrap().default(BEST),
      max_tokens: z.int().min(200).max(20_000).default(1500).describe('Budget of the results.'),
    })
    .strict(),
  output: z.object({
    results: z.array(Result),
    total: z.int(),
    mode: z.enum(['lexical', 'hybrid']).describe('hybrid when vectors contributed to the ranking.'),
  }),
  async run({ memory, projects }, { max_tokens, ...input }, context) {
    const own = memory.of(context.memoryOwner ?? null, context.callerId)
    // Half of the budget, since the rest of a result takes some.
    const share = Math.floor((CHARACTERS * max_tokens) / 2 / Math.min(input.limit, BEST))
    const excerptLength = Math.min(EXCERPTS.longest, Math.max(EXCERPTS.shortest, share))
    const query = { ...input, project: await callerProjects({ projects }, context), weak: BEST, excerptLength }
    const { results, ...found } = await own.search(query, context)
    return {
      ...found,
      results: await within(
        max_tokens,
        results.map((result) => Result.parse(result)),
      ),
    }
  },
  render({ results, total }) {
    if (results.length === 0) return 'No memory matches.'
    const lines = results.map(({ memory, excerpt, weak }) =>
      plain(`${weak ? '(weak) ' : ''}${memory.namespace}/${memory.key}: ${excerpt}`),
    )
    return [...lines, ...(total > results.length ? [`… of ${total} that match`] : [])].join('\n')
  },
})

/** Selects the first results that fit into a budget of tokens; at least one. */
async function within(maxTokens: number, results: readonly Result[]): Promise<Result[]> {
  const fitting: Result[] = []
  let tokens = 0
  for (const result of results) {
    tokens += await countTokens(JSON.stringify(result))
    if (fitting.length > 0 && tokens > maxTokens) break
    fitting.push(result)
  }
  return fitting
}
