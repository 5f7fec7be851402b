import { GROUNDED_ONCE } from '../../providers/gemini-fields.ts'
import type { FeeUnit } from '../../providers/priced-fields.ts'
import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Tools that a provider ran for a chat completion, counted over its chunks. */
export interface ChatTools {
  /** Reads the choices of an answer or of a chunk. */
  read(choices: unknown): void
  /** @param model id of the model that answered */
  uses(model: unknown): Partial<Record<FeeUnit, number>>
}

/** Most uses that are remembered. */
const MOST_USES = 10_000

/**
 * Kinds of the tools that Groq ran, by a part of their type: a search, code or a browser that runs, a page that is opened
 * (`executed_tools`, by the types of `groq-sdk` 1.6.0).
 */
const EXECUTED: ReadonlyArray<readonly [part: RegExp, unit: FeeUnit]> = [
  [/search/, 'search'],
  [/python|code|automation/, 'code'],
  [/visit|open/, 'page'],
]

/** Finds events and answers that may name such tools. */
export const NAMES_CHAT_TOOLS = '"executed_tools"|"grounding_?[mM]etadata"'

/** Creates the count of an answer. */
export function createChatTools(): ChatTools {
  const executed = new Map<string, FeeUnit>()
  const queries = new Set<string>()
  let isGrounded = false

  /** Chunks repeat a tool with its output, under the same index. */
  function addExecuted({ index, type, name }: Fields, at: number): void {
    const kind = `${type} ${name}`
    const unit = EXECUTED.find(([part]) => part.test(kind))?.[1]
    if (unit !== undefined && executed.size < MOST_USES) executed.set(`${index ?? at} ${kind}`, unit)
  }

  /** Searches of Gemini: `webSearchQueries` of its grounding metadata. Places of maps name no query. */
  function addGrounding(metadata: Fields): void {
    if (objectsOrNone(metadata.groundingChunks).some(({ maps }) => isObject(maps))) {
      isGrounded = true
      queries.add('maps')
    }
    const found = metadata.webSearchQueries ?? metadata.web_search_queries
    if (!Array.isArray(found)) return
    isGrounded ||= found.length > 0
    for (const query of found.slice(0, MOST_USES - queries.size)) queries.add(String(query))
  }

  return {
    read(choices) {
      for (const choice of objectsOrNone(choices)) {
        const said = fieldsOrNone(choice.message ?? choice.delta)
        objectsOrNone(said.executed_tools).forEach(addExecuted)
        const { google } = fieldsOrNone(said.extra_content)
        for (const place of [choice, said, fieldsOrNone(google)])
          addGrounding(fieldsOrNone(place.groundingMetadata ?? place.grounding_metadata))
      }
    },
    uses(model) {
      const uses: Partial<Record<FeeUnit, number>> = {}
      for (const unit of executed.values()) uses[unit] = (uses[unit] ?? 0) + 1
      if (isGrounded) uses.search = (uses.search ?? 0) + (GROUNDED_ONCE.test(String(model)) ? 1 : queries.size)
      return uses
    },
  }
}
