import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ASKS_SUMMARY, INSTRUCTIONS, LOOK, READ, type Sdk } from './sdk.ts'

// biome-ignore lint/suspicious/noExplicitAny: its packages are not among the dependencies
type Any = any

/** An agent of LangChain, from the packages in a folder. */
export function langChain(folder: string, useResponsesApi: boolean): Sdk {
  const load = createRequire(join(folder, 'package.json')) as (name: string) => Any
  return ({ url, key }, model, { read, look }) => {
    const { ChatOpenAI } = load('@langchain/openai')
    const { createReactAgent } = load('@langchain/langgraph/prebuilt')
    const { tool } = load('@langchain/core/tools')
    const { z } = load('zod')
    const schema = z.object({ file: z.string() })
    const picture = (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })
    const tools = [
      tool(async ({ file }: { file: string }) => read(file), { name: 'read', description: READ, schema }),
      tool(async ({ file }: { file: string }) => [picture(look(file))], { name: 'look', description: LOOK, schema }),
    ]
    const llm = new ChatOpenAI({
      ...{ model, apiKey: key, configuration: { baseURL: `${url}/v1` }, maxRetries: 0, streaming: true },
      ...{ useResponsesApi, reasoning: { effort: 'high' } },
    })
    const agent = createReactAgent({ llm, tools, prompt: INSTRUCTIONS })
    let messages: Any[] = []
    return {
      async ask({ text, picture: shown, leaves }) {
        messages.push({
          role: 'user',
          content: [{ type: 'text', text }, ...(shown === undefined ? [] : [picture(shown)])],
        })
        const leaving = new AbortController()
        const { signal } = leaving
        let said = ''
        try {
          const stream = await agent.stream({ messages }, { streamMode: ['values', 'messages'], signal })
          for await (const [mode, data] of stream) {
            if (mode === 'values') {
              messages = data.messages
              said = ''
              continue
            }
            const [piece] = data
            if (piece.getType() !== 'ai') continue
            said += piece.text
            if (leaves && piece.text !== '') leaving.abort()
          }
        } catch (error) {
          if (!leaves || !signal.aborted) throw error
          messages.push({ role: 'assistant', content: said })
          return said
        }
        return messages.at(-1).text
      },
      async compact() {
        let text = ''
        for await (const piece of await llm.stream([...messages, { role: 'user', content: ASKS_SUMMARY }]))
          text += piece.text
        messages = [{ role: 'user', content: text }]
      },
    }
  }
}
