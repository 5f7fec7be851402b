type Fields = Record<string, unknown>

/** A message of a conversation, as far as a steered model looks at it. */
export interface Said {
  role: 'user' | 'assistant' | 'result'
  text: string
  /** Calls that an assistant made. */
  calls: number
  hasImage: boolean
}

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

/** The messages of a request in chat completions or Messages, without system messages. */
export function conversationOf(body: Fields): Said[] {
  return list(body.messages)
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .flatMap((message): Said[] => {
      const { role, content, tool_calls } = message
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
      if (role !== 'user') return [said(role === 'tool' ? 'result' : 'assistant', parts, list(tool_calls).length)]
      const results = parts.filter(({ type }) => type === 'tool_result')
      const others = parts.filter((part) => !results.includes(part))
      return [
        ...(results.length > 0
          ? [said('result', [...results, ...results.flatMap(({ content }) => list(content))])]
          : []),
        ...(others.length > 0 ? [said('user', others)] : []),
      ]
    })
}

const said = (role: Said['role'], parts: Fields[], calls = 0): Said => ({
  role,
  text: parts.map(({ text, content }) => text ?? (typeof content === 'string' ? content : '')).join('\n'),
  calls: calls + parts.filter(({ type }) => type === 'tool_use').length,
  hasImage: parts.some(({ type }) => type === 'image_url' || type === 'image'),
})
