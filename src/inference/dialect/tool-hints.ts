import { objectsOrNone } from '../../text/lenient-reader.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'

/** Fields of tools that say when they are loaded or how they are called, and nothing of what they do. */
const HINTS = ['defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers'] as const

function refusalOf(name: string): Mend['isRefused'] {
  const refused = wording(new RegExp(`\\b${name}\\b.*(?:not permitted|unknown|unexpected|not supported)`, 'is'))
  return ({ message }) => refused.test(message)
}

/** Takes fields out of tools that servers of Messages do not know, such as Bedrock. */
export const TOOL_HINTS: readonly Mend[] = HINTS.map((name) => ({
  name: `no_tool_${name}`,
  apis: ['messages'],
  isRefused: refusalOf(name),
  fields({ tools }, note) {
    const all = objectsOrNone(tools)
    if (!all.some((tool) => name in tool)) return {}
    return {
      tools: all.map((tool, index) => {
        if (!(name in tool)) return tool
        note(`tools.${index}.${name}`, 'dropped')
        const { [name]: _, ...rest } = tool
        return rest
      }),
    }
  },
}))
