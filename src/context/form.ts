import type { ContextMemory, Place, WorkContext } from './place.ts'
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

/** Serializes a context piece by piece, so that each piece can be counted against the budget. */
export interface Form {
  /** A context without places and memories. */
  frame(context: WorkContext): string
  note(note: string): string
  /** @param isFirst whether no memory stands before it */
  memory(memory: ContextMemory, isFirst: boolean): string
  /** @param isFirst whether no other place stands inside the one around it */
  place(place: Place, isFirst: boolean): string
  excerpt(excerpt: string, place: Place): string
  /** The whole in every form that has to keep the budget; the first one's size is what `tokens` says. */
  whole(context: WorkContext): string[]
}

type CountTokens = (text: string) => Promise<number> | number

/** The text alone, as it is sent to a model with a question. */
export const textForm: Form = {
  frame: (context) => `${header(context)}\n${MORE}\n`,
  note: (note) => `${noteLine(note)}\n`,
  memory: (memory, isFirst) => `${isFirst ? `${MEMORIES}\n` : ''}${memoryLine(memory)}\n`,
  place: (place) => `${placeLine(place)}\n`,
  excerpt: (excerpt, place) => `${excerptBlock(excerpt, languageOfPlace(place))}\n`,
  whole: (context) => [renderContext(context)],
}

/** The structured result of the tool, which is all that some clients show to their model. Its text has to fit, too. */
export const jsonForm: Form = {
  frame: (context) => JSON.stringify(context),
  note: (note) => `,${JSON.stringify(note)}`,
  memory: (memory) => `,${JSON.stringify(memory)}`,
  place: (place, isFirst) => `,${JSON.stringify(place)}${isFirst ? ',"children":[]' : ''}`,
  excerpt: (excerpt) => `,"excerpt":${JSON.stringify(excerpt)}`,
  whole: (context) => [JSON.stringify(context), renderContext(context)],
}

/** The encoding has a token for each number below it, and one more for the next three digits. */
const THOUSAND = 1000

/**
 * Writes into `tokens` how many the context has in its first form, that number among them.
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
