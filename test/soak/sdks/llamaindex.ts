import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ASKS_SUMMARY, INSTRUCTIONS, LOOK, MOST_STEPS, READ, type Sdk } from './sdk.ts'

// biome-ignore lint/suspicious/noExplicitAny: its packages are not among the dependencies
type Any = any

/** A conversation of LlamaIndex, from the packages in a folder. Its streams of Responses repeat words: they are not run. */
export function llamaIndex(folder: string): Sdk {
  const load = createRequire(join(folder, 'package.json')) as (name: string) => Any
  return ({ url, key }, model, { read, look }) => {
    const { tool } = load('llamaindex')
    const { z } = load('zod')
    const parameters = z.object({ file: z.string() })
    const tools = [
      tool({ name: 'read', description: READ, parameters, execute: ({ file }: { file: string }) => read(file) }),
      tool({
        name: 'look',
        description: LOOK,
        parameters,
        execute: ({ file }: { file: string }) => look(file) && 'Shown.',
      }),
    ]
    /** It has no way to leave of its own. */
    let leaving = new AbortController()
    const fetchUntilLeft = (at: string, init: object) => fetch(at, { ...init, signal: leaving.signal })
    const { OpenAI } = load('@llamaindex/openai')
    const llm = new OpenAI({
      ...{
        model,
        apiKey: key,
        baseURL: `${url}/v1`,
        maxRetries: 0,
        additionalSessionOptions: { fetch: fetchUntilLeft },
      },
    })
    let messages: Any[] = [{ role: 'system', content: INSTRUCTIONS }]
    return {
      async ask({ text, picture, leaves }) {
        leaving = new AbortController()
        const image = { url: `data:image/png;base64,${picture}` }
        const shown = picture === undefined ? [] : [{ type: 'image_url', image_url: image }]
        messages.push({ role: 'user', content: [{ type: 'text', text }, ...shown] })
        for (let step = 0; step < MOST_STEPS; step++) {
          let said = ''
          const calls = new Map<string, Any>()
          for await (const { delta, options } of await llm.chat({ messages, tools, stream: true })) {
            said += delta
            if (leaves && said !== '') {
              leaving.abort()
              break
            }
            for (const call of options?.toolCall ?? []) calls.set(call.id, call)
          }
          messages.push({
            role: 'assistant',
            content: said,
            options: calls.size > 0 ? { toolCall: [...calls.values()] } : {},
          })
          if (calls.size === 0) return said
          for (const { id, name, input } of calls.values()) {
            const used = tools.find(({ metadata }) => metadata.name === name)
            const result = await used.call(typeof input === 'string' ? JSON.parse(input) : input)
            messages.push({ role: 'user', content: result, options: { toolResult: { id, result, isError: false } } })
          }
        }
        return 'too many steps'
      },
      async compact() {
        const { message } = await llm.chat({ messages: [...messages, { role: 'user', content: ASKS_SUMMARY }] })
        messages = [
          { role: 'system', content: INSTRUCTIONS },
          { role: 'user', content: message.content },
        ]
      },
    }
  }
}
