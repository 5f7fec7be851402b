import { asksModel, PASSED_PATHS } from './passed-paths.ts'

/** The endpoints that a model is asked at and whose protocols are converted into each other, below the base URL: two of OpenAI's API, and Anthropic's. */
export const ENDPOINTS = ['/chat/completions', '/responses', '/messages'] as const
export type Endpoint = (typeof ENDPOINTS)[number]

/** Every path of `/v1` that may lead to a call, as records and metrics name it. */
export const CALL_PATHS: readonly string[] = [
  ...new Set([...ENDPOINTS, '/messages/count_tokens', ...PASSED_PATHS.map(({ path }) => path)]),
]

/** Those that ask a model, without those that name something. */
export const ASKING_PATHS: readonly string[] = [
  ...ENDPOINTS,
  ...PASSED_PATHS.filter((path) => asksModel(path) && !path.path.includes('{')).map(({ path }) => path),
]
