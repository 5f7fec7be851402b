import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents'
import * as z from 'zod'
import { ASKS_SUMMARY, INSTRUCTIONS, LOOK, READ, type Sdk } from './sdk.ts'

/** The OpenAI Agents SDK. */
export const openAiAgents =
  (useResponses: boolean): Sdk =>
  ({ url, key }, model, { read, look }) => {
    const modelProvider = new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: key, useResponses })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const parameters = z.object({ file: z.string() })
    const tools = [
      tool({ name: 'read', description: READ, parameters, execute: async ({ file }) => read(file) }),
      tool({
        ...{ name: 'look', description: LOOK, parameters },
        async execute({ file }) {
          const data = look(file)
          // Its chat completions take no picture from a tool.
          return useResponses ? { type: 'image', image: { data, mediaType: 'image/png' } } : 'The picture is shown.'
        },
      }),
    ]
    const modelSettings = { store: false, reasoning: { effort: 'high' as const } }
    const named = { name: 'Courier', instructions: INSTRUCTIONS, model, modelSettings }
    const agent = new Agent({ ...named, tools })
    const summarizer = new Agent(named)
    let history: AgentInputItem[] = []
    return {
      async ask({ text, picture, leaves }) {
        const shown =
          picture === undefined ? [] : [{ type: 'input_image' as const, image: `data:image/png;base64,${picture}` }]
        const content = [{ type: 'input_text' as const, text }, ...shown]
        const leaving = new AbortController()
        const { signal } = leaving
        const result = await runner.run(agent, [...history, { role: 'user', content }], { stream: true, signal })
        let said = ''
        for await (const piece of result.toTextStream()) {
          said += piece
          if (leaves) leaving.abort()
        }
        await result.completed
        history = result.history
        return leaves ? said : (result.finalOutput ?? '')
      },
      async compact() {
        const { finalOutput } = await runner.run(summarizer, [...history, { role: 'user', content: ASKS_SUMMARY }])
        history = [{ role: 'user', content: finalOutput ?? '' }]
      },
    }
  }
