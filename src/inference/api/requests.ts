import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'

/** A chat request. Without a model, the configured one answers. */
export type ChatRequest = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'> & { model?: string }
export type ChatCompletion = OpenAI.Chat.ChatCompletion

/** A Responses request. Without a model, the configured one answers. */
export type ResponseRequest = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model'> & { model?: string }

/** A Messages request. Without a model, the configured one answers. */
export type MessagesRequest = Omit<Anthropic.MessageCreateParamsNonStreaming, 'model'> & { model?: string }
export type Message = Anthropic.Message
export type MessageEvent = Anthropic.RawMessageStreamEvent

/** A chunk of a streamed chat completion. */
export type ChatChunk = OpenAI.Chat.ChatCompletionChunk
