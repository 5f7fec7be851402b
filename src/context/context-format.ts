import {
  excerptBlock,
  header,
  languageOfPlace,
  MEMORIES,
  MORE,
  memoryLine,
  noteLine,
  placeLine,
  renderContext,
} from './render.ts'
import type { ContextMemory, Place, WorkContext } from './work-context.ts'

/** Serializes a context piece by piece, so that each piece can be counted against the budget. */
export interface Form {
  /** A context without places and memories. */
  frame(context: WorkContext): string
  note(note: string): string
  /** @param isFirst true for the first memory */
  memory(memory: ContextMemory, isFirst: boolean): string
  /** @param isFirst true for the first child of its parent place */
  place(place: Place, isFirst: boolean): string
  excerpt(excerpt: string, place: Place): string
  /** The whole context in every form that must stay within the budget. `tokens` is the size of the first. */
  whole(context: WorkContext): string[]
}

type CountTokens = (text: string) => Promise<number> | number

/** Plain text, as it is sent to a model with a question. */
export const textForm: Form = {
  frame: (context) => `${header(context)}\n${MORE}\n`,
  note: (note) => `${noteLine(note)}\n`,
  memory: (memory, isFirst) => `${isFirst ? `${MEMORIES}\n` : ''}${memoryLine(memory)}\n`,
  place: (place) => `${placeLine(place)}\n`,
  excerpt: (excerpt, place) => `${excerptBlock(excerpt, languageOfPlace(place))}\n`,
  whole: (context) => [renderContext(context)],
}

/** The tool's structured result, which some clients alone show to their model. Its text must also fit the budget. */
export const jsonForm: Form = {
  frame: (context) => JSON.stringify(context),
  note: (note) => `,${JSON.stringify(note)}`,
  memory: (memory) => `,${JSON.stringify(memory)}`,
  place: (place, isFirst) => `,${JSON.stringify(place)}${isFirst ? ',"children":[]' : ''}`,
  excerpt: (excerpt) => `,"excerpt":${JSON.stringify(excerpt)}`,
  whole: (context) => [JSON.stringify(context), renderContext(context)],
}

/** The encoding has one token for each number below it, and a further token for the next three digits. */
const THOUSAND = 1000

/**
 * Sets `tokens` to the size of the context's first form, including that number itself.
 *
 * @returns the tokens of the longest of its forms
 */
export async function measure(context: WorkContext, form: Form, countTokens: CountTokens): Promise<number> {
  context.tokens = 0
  const below = await countTokens(form.whole(context)[0] ?? '')
  context.tokens = THOUSAND
  const above = await countTokens(form.whole(context)[0] ?? '')
  context.tokens = below < THOUSAND ? below : above
  const sizes = await Promise.all(form.whole(context).slice(1).map(countTokens))
  return Math.max(context.tokens, ...sizes)
}
