import assert from 'node:assert/strict'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import * as z from 'zod'

/** Address of the gateway, and a key of it. */
interface Place {
  url: string
  key: string
}

/** Runs two questions with a tool through a real client, and returns its last words. */
export type TwoQuestions = (place: Place, how: 'whole' | 'streamed') => Promise<string>

export const MODEL = 'double-thinker'
const QUESTIONS = ['What is the status of P-42?', 'And now?']
const RESULT = 'delivered on Friday'
const SCHEMA = { type: 'object' as const, properties: { parcel: { type: 'string' } }, required: ['parcel'] }
const NAME = 'parcel_status'
const MOST_STEPS = 6

/** The official SDK for Messages: its user brings every block back, or those that `brings` selects. */
const messagesOf =
  (brings: (type: string) => boolean): TwoQuestions =>
  async ({ url, key }, how) => {
    const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })
    const tools = [{ name: NAME, input_schema: SCHEMA }]
    const messages: Anthropic.MessageParam[] = []
    let last = ''
    for (const question of QUESTIONS) {
      messages.push({ role: 'user', content: question })
      for (let step = 0; step < MOST_STEPS; step++) {
        const thinking = { type: 'enabled' as const, budget_tokens: 2000 }
        const asked = { model: MODEL, max_tokens: 4000, thinking, tools, messages }
        const answer =
          how === 'whole' ? await client.messages.create(asked) : await client.messages.stream(asked).finalMessage()
        messages.push({ role: 'assistant', content: answer.content.filter(({ type }) => brings(type)) })
        const uses = answer.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
        last = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
        if (uses.length === 0) break
        const results = uses.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: RESULT }))
        messages.push({ role: 'user', content: results })
      }
    }
    return last
  }

/** The official SDK for Responses: its user adds the output to the next input, or the part that `brings` selects. */
const responses =
  (brings: (type: string) => boolean): TwoQuestions =>
  async ({ url, key }, how) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
    const tools = [{ type: 'function' as const, name: NAME, parameters: SCHEMA, strict: false }]
    const input: OpenAI.Responses.ResponseInputItem[] = []
    let last = ''
    for (const content of QUESTIONS) {
      input.push({ role: 'user', content })
      for (let step = 0; step < MOST_STEPS; step++) {
        const asked = { model: MODEL, store: false, tools, input, reasoning: { effort: 'high' as const } }
        const answer =
          how === 'whole' ? await client.responses.create(asked) : await client.responses.stream(asked).finalResponse()
        const brought = answer.output.filter(({ type }) => brings(type))
        input.push(...(brought as OpenAI.Responses.ResponseInputItem[]))
        const made = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
        last = answer.output_text
        if (made.length === 0) break
        for (const { call_id } of made) input.push({ type: 'function_call_output', call_id, output: RESULT })
      }
    }
    return last
  }

/** The official SDK for chat, whose user brings back the text and the calls alone. */
const chat: TwoQuestions = async ({ url, key }, how) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  const tools = [{ type: 'function' as const, function: { name: NAME, parameters: SCHEMA } }]
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = []
  let last = ''
  for (const content of QUESTIONS) {
    messages.push({ role: 'user', content })
    for (let step = 0; step < MOST_STEPS; step++) {
      const asked = { model: MODEL, tools, messages, reasoning_effort: 'high' as const }
      const answer =
        how === 'whole'
          ? await client.chat.completions.create(asked)
          : await client.chat.completions.stream(asked).finalChatCompletion()
      const said = answer.choices[0]?.message
      const made = (said?.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []))
      last = said?.content ?? ''
      messages.push({
        role: 'assistant',
        content: last,
        ...(made.length > 0 && {
          tool_calls: made.map(({ id, function: { name, arguments: args } }) => ({
            id,
            type: 'function' as const,
            function: { name, arguments: args },
          })),
        }),
      })
      if (made.length === 0) break
      for (const { id } of made) messages.push({ role: 'tool', tool_call_id: id, content: RESULT })
    }
  }
  return last
}

const agents =
  (useResponses: boolean): TwoQuestions =>
  async ({ url, key }, how) => {
    const modelProvider = new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: key, useResponses })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const status = agentTool({
      name: NAME,
      description: 'The status of a parcel.',
      parameters: z.object({ parcel: z.string() }),
      execute: async () => RESULT,
    })
    const modelSettings = { store: false, reasoning: { effort: 'high' as const } }
    const agent = new Agent({ name: 'Courier', model: MODEL, modelSettings, tools: [status] })
    const [first = '', second = ''] = QUESTIONS
    const run = async (input: Parameters<Runner['run']>[1]) => {
      if (how === 'whole') return runner.run(agent, input as string)
      const result = await runner.run(agent, input as string, { stream: true })
      for await (const _ of result.toTextStream());
      await result.completed
      return result
    }
    const begun = await run(first)
    const { finalOutput } = await run([...begun.history, { role: 'user', content: second }] as never)
    return finalOutput ?? ''
  }

const aiSdk =
  (api: 'chat' | 'responses'): TwoQuestions =>
  async ({ url, key }, how) => {
    const provider = createOpenAI({ baseURL: `${url}/v1`, apiKey: key })
    const tools = {
      [NAME]: tool({
        description: 'The status of a parcel.',
        inputSchema: z.object({ parcel: z.string() }),
        execute: async () => RESULT,
      }),
    }
    const messages: Parameters<typeof generateText>[0]['messages'] & object = []
    let last = ''
    for (const content of QUESTIONS) {
      messages.push({ role: 'user', content })
      const asked = {
        model: api === 'chat' ? provider.chat(MODEL) : provider.responses(MODEL),
        tools,
        messages,
        stopWhen: stepCountIs(MOST_STEPS),
        maxRetries: 0,
        providerOptions: {
          openai: {
            store: false,
            forceReasoning: true,
            reasoningEffort: 'high',
            include: ['reasoning.encrypted_content'],
          },
        },
      }
      const fail = ({ error }: { error: unknown }) => assert.fail(String(error))
      const result = how === 'whole' ? await generateText(asked) : streamText({ ...asked, onError: fail })
      last = await result.text
      messages.push(...(await result.response).messages)
    }
    return last
  }

/** A user of the official SDK who returns no reasoning, as LangChain's `zdrEnabled` without `include`. */
export const withoutReasoning = responses((type) => type !== 'reasoning')

/** A loop that returns texts and calls alone. */
export const withoutThinking = messagesOf((type) => type === 'text' || type === 'tool_use')

/** Real clients, by name. */
export const CLIENTS: Readonly<Record<string, TwoQuestions>> = {
  '@anthropic-ai/sdk': messagesOf(() => true),
  'openai over Responses': responses(() => true),
  'openai over chat completions': chat,
  '@openai/agents over Responses': agents(true),
  '@openai/agents over chat completions': agents(false),
  'ai over Responses': aiSdk('responses'),
  'ai over chat completions': aiSdk('chat'),
}
