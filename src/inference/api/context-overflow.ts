import { cut } from '../../text/cut.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'

/** Size of a request that exceeds the context window of its model, in tokens. Null where the upstream does not say. */
export interface ContextOverflow {
  prompt: number | null
  /** Limit of the answer, when prompt and answer together exceed the window. */
  answer: number | null
  window: number | null
}

/** Code of such an error, as OpenAI's clients know it. */
export const CONTEXT_LENGTH_EXCEEDED = 'context_length_exceeded'

/** Codes and types of such errors: OpenAI and most others, llama.cpp, GitHub's models. */
const CODES: ReadonlySet<unknown> = new Set([
  CONTEXT_LENGTH_EXCEEDED,
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
])

/** Wordings of the upstreams that comments name, with the counts that they have. The more telling stand first. */
const WORDINGS: readonly RegExp[] = [
  // Anthropic (https://docs.claude.com/en/docs/build-with-claude/context-windows).
  /prompt is too long: (?<prompt>\d+) tokens > (?<window>\d+) maximum/i,
  /input length and `max_tokens` exceed context limit: (?<prompt>\d+) \+ (?<answer>\d+) > (?<window>\d+)/i,
  // OpenAI, DeepSeek, vLLM up to 0.10: "(67340 in the messages, 4096 in the completion)", "(10 in your prompt; 5 for the completion)".
  /maximum context length is (?<window>\d+) tokens.*?requested (?:about )?\d+ tokens \((?<prompt>\d+) in (?:the|your) (?:messages|prompt)[,;] (?<answer>\d+) (?:in|for) the completion/is,
  // OpenRouter: "However, you requested about 172900 tokens (4429 of text input, 4631 of tool input, 163840 in the output)".
  /maximum context length is (?<window>\d+) tokens.*?requested (?:about )?(?<total>\d+) tokens(?: \(.*?(?<answer>\d+) in the output\))?/is,
  // OpenAI: "However, your messages resulted in 8545 tokens."
  /maximum context length is (?<window>\d+) tokens.*?resulted in (?<prompt>\d+) tokens/is,
  // vLLM: "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 100 input tokens".
  /too large: (?<answer>\d+)\..*?maximum context length is (?<window>\d+) tokens and your request has (?<prompt>\d+) input tokens/is,
  // vLLM from 0.11: "You passed 40961 input tokens and requested 100 output tokens. However, the model's context length is only 40960 tokens".
  /passed (?<prompt>\d+) input tokens and requested (?<answer>\d+) output tokens.*?context length is only (?<window>\d+)/is,
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
  /prompt \((?:total )?length (?<prompt>\d+)\) is longer than the maximum model length of (?<window>\d+)/i,
  // SGLang: "You requested a total of 40000 tokens: 35000 tokens from the input messages and 5000 tokens for the completion."
  /maximum context length of (?<window>\d+) tokens.*?(?<prompt>\d+) tokens from the input messages and (?<answer>\d+) tokens for the completion/is,
  /input \((?<prompt>\d+) tokens\) is longer than the model's context length \((?<window>\d+) tokens\)/i,
  // llama.cpp (ggml-org/llama.cpp#15780): "request (14429 tokens) exceeds the available context size (8192 tokens)".
  /request \((?<prompt>\d+) tokens\) exceeds the available context size \((?<window>\d+) tokens\)/i,
  /exceeds? the available context size/i,
  // Ollama: "prompt too long; exceeded max context length by 1234 tokens", "the input length exceeds the context length".
  /prompt too long; exceeded (?:max )?context length/i,
  /input length exceeds (?:the |maximum )?context length/i,
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
  /input token count (?:\((?<prompt>\d+)\) )?exceeds the maximum number of tokens allowed \(?(?<window>\d+)?/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
  /maximum prompt length is (?<window>\d+) but the request contains (?<prompt>\d+) tokens/i,
  // Mistral: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length".
  /prompt contains (?<prompt>\d+) tokens.*?too large for model with (?<window>\d+) maximum context length/is,
  // Kimi: "Your request exceeded model token limit: 262144 (requested: 300000)".
  /exceeded model token limit: (?<window>\d+)(?: \(requested: (?<prompt>\d+)\))?/i,
  // GitHub's models: "prompt token count of 140000 exceeds the limit of 128000".
  /prompt token count of (?<prompt>\d+) exceeds the limit of (?<window>\d+)/i,
  // LM Studio: "the model is loaded with context length of only 4096 tokens".
  /tokens to keep from the initial prompt is greater than the context length/i,
  /loaded with context length of only (?<window>\d+) tokens/i,
  // OpenAI's Responses: "Your input exceeds the context window of this model."
  /exceeds the context window of this model/i,
  // Groq, MiniMax, Bedrock.
  /reduce the length of the messages or completion/i,
  /context window exceeds limit/i,
  /input is too long for requested model/i,
  // Anthropic's own without counts, and others that give only the window.
  /^prompt is too long/i,
  /maximum context length (?:is|of) (?<window>\d+)/i,
]

/** Words of which each wording has one: most errors are read once instead of with each. */
const OF_LENGTH =
  /too (?:long|large)|longer than|exceed|context (?:length|window|size)|prompt length|reduce the length/i

/** Longest part of an error that is read: upstreams may quote the request. */
const READ_LENGTH = 2000

/** Statuses by which upstreams refuse such a request. Null is an error within a reply of success. */
const STATUSES: ReadonlySet<number | null> = new Set([null, 400, 413, 422, 500])

/**
 * Finds in an error that its request exceeds the context window. Null for any other error.
 *
 * @param error fields of the error, as the upstream sent them
 * @param status of the reply; null for an error within a reply of success
 */
export function contextOverflow(error: unknown, status: number | null): ContextOverflow | null {
  if (!STATUSES.has(status)) return null
  const { message, code, type, n_prompt_tokens, n_ctx, metadata } = fieldsOrNone(error)
  // OpenRouter quotes the provider that it asked.
  const said = [message, fieldsOrNone(metadata).raw].filter((one) => typeof one === 'string')
  const reason = cut(said.join('\n'), 0, READ_LENGTH)
  const wording = OF_LENGTH.test(reason) ? WORDINGS.find((one) => one.test(reason)) : undefined
  const found = wording?.exec(reason)
  if (wording === undefined && !CODES.has(code) && !CODES.has(type)) return null
  const { prompt, answer, window, total } = found?.groups ?? {}
  const limit = count(answer)
  const whole = count(total)
  return {
    prompt: count(prompt ?? n_prompt_tokens) ?? (whole === null ? null : whole - (limit ?? 0)),
    answer: limit,
    window: count(window ?? n_ctx),
  }
}

const count = (value: unknown): number | null => {
  const number = Number(value ?? Number.NaN)
  return Number.isSafeInteger(number) && number >= 0 ? number : null
}

/** Tells whether a message has Anthropic's own words. */
export const isInMessages = (message: string): boolean =>
  /prompt is too long|input length and `max_tokens` exceed/i.test(message)

/**
 * Message of the error in Anthropic's words. Claude Code lowers its limit when the prompt alone fits, and compacts the
 * conversation otherwise.
 *
 * @param reason the upstream's words, for an error without counts
 */
export function overflowInMessages({ prompt, answer, window }: ContextOverflow, reason: string): string {
  if (isInMessages(reason)) return reason
  if (prompt === null || window === null) return `prompt is too long: ${reason}`
  return answer !== null && prompt < window
    ? `input length and \`max_tokens\` exceed context limit: ${prompt} + ${answer} > ${window}, decrease input length or \`max_tokens\``
    : `prompt is too long: ${prompt} tokens > ${window} maximum`
}
