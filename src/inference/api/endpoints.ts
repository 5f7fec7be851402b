import { COUNT_CONTENT, EMBED_CONTENT, GENERATE_CONTENT } from './gemini-endpoints.ts'
import { VERBATIM_PATHS } from './verbatim-paths.ts'

/**
 * Model endpoints whose protocols are converted into each other, below the base URL: two of OpenAI's API, one of
 * Anthropic's, one of Google's.
 */
export const ENDPOINTS = ['/chat/completions', '/responses', '/messages', GENERATE_CONTENT] as const
export type Endpoint = (typeof ENDPOINTS)[number]

/** Counts the prompt of a Messages request. */
export const COUNT_TOKENS = '/messages/count_tokens'

/** Paths of `/v1` that may lead to a call, as records and metrics name them. */
export const CALL_PATHS: readonly string[] = [
  ...new Set([...ENDPOINTS, COUNT_TOKENS, COUNT_CONTENT, EMBED_CONTENT, ...VERBATIM_PATHS.map(({ path }) => path)]),
]
