import * as z from 'zod'
import { memoryLine, renderPlace } from './render.ts'
import type { Place, WorkContext } from './work-context.ts'

/** A file or memory that was sent with a question, and its tokens. */
export const UsedContext = z.object({
  kind: z.enum(['file', 'memory']),
  name: z.string().describe('The path below the root, or the key of the memory.'),
  tokens: z.int(),
})
export type UsedContext = z.infer<typeof UsedContext>

/** Lists the files and memories in a context, in the order of its text. */
export async function usedIn(
  { places, memories }: WorkContext,
  countTokens: (text: string) => Promise<number> | number,
): Promise<UsedContext[]> {
  const parts = [
    ...filesIn(places).map((file) => ({ kind: 'file' as const, name: file.path, text: renderPlace(file).join('\n') })),
    ...memories.map((memory) => ({ kind: 'memory' as const, name: memory.key, text: memoryLine(memory) })),
  ]
  return Promise.all(parts.map(async ({ kind, name, text }) => ({ kind, name, tokens: await countTokens(text) })))
}

function filesIn(places: readonly Place[]): Place[] {
  return places.flatMap((place) => (place.kind === 'file' ? [place] : filesIn(place.children ?? [])))
}
