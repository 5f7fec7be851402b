import { generateText, type LanguageModel, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import * as z from 'zod'
import { ASKS_SUMMARY, type Conversation, INSTRUCTIONS, LOOK, MOST_STEPS, READ, type Tools } from './sdk.ts'

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>

/** A conversation of the Vercel AI SDK. */
export function aiConversation(
  model: LanguageModel,
  providerOptions: ProviderOptions,
  { read, look }: Tools,
): Conversation {
  const inputSchema = z.object({ file: z.string() })
  const tools = {
    read: tool({ description: READ, inputSchema, execute: async ({ file }) => read(file) }),
    look: tool({
      description: LOOK,
      inputSchema,
      execute: async ({ file }) => look(file),
      toModelOutput: ({ output: data }) => ({
        type: 'content',
        value: [{ type: 'image-data', data, mediaType: 'image/png' }],
      }),
    }),
  }
  let messages: ModelMessage[] = []
  const asked = { model, system: INSTRUCTIONS, providerOptions, maxRetries: 0 }
  return {
    async ask({ text, picture, leaves }) {
      const words = { type: 'text' as const, text }
      const shown = picture === undefined ? [] : [{ type: 'image' as const, image: picture, mediaType: 'image/png' }]
      messages.push({ role: 'user', content: [words, ...shown] })
      const leaving = new AbortController()
      const failures: unknown[] = []
      let said = ''
      const result = streamText({
        ...{ ...asked, messages, tools, stopWhen: stepCountIs(MOST_STEPS), abortSignal: leaving.signal },
        onError: ({ error }) => void failures.push(error),
        onAbort({ steps }) {
          messages.push(...(steps.at(-1)?.response.messages ?? []), { role: 'assistant', content: said })
        },
      })
      for await (const part of result.fullStream) {
        if (part.type === 'start-step') said = ''
        if (part.type === 'text-delta') said += part.text
        if (leaves && part.type === 'text-delta') leaving.abort()
      }
      if (failures.length > 0) throw failures[0]
      if (!leaves) messages.push(...(await result.response).messages)
      return said
    },
    async compact() {
      const { text } = await generateText({
        ...asked,
        messages: [...messages, { role: 'user', content: ASKS_SUMMARY }],
      })
      messages = [{ role: 'user', content: text }]
    },
  }
}
