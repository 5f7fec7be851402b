import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'

/** A chat request; without a model, the one that is configured answers. */
export type ChatRequest = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'> & { model?: string }
export type ChatCompletion = OpenAI.Chat.ChatCompletion

/** A Responses request; without a model, the one that is configured answers. */
export type ResponseRequest = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model'> & { model?: string }

/** A Messages request; without a model, the one that is configured answers. */
export type MessagesRequest = Omit<Anthropic.MessageCreateParamsNonStreaming, 'model'> & { model?: string }
export type Message = Anthropic.Message
export type MessageEvent = Anthropic.RawMessageStreamEvent
