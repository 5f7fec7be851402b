/** Endpoints of Google's API, as records and metrics name them below `/v1`. The model is in their paths. */
export const GENERATE_CONTENT = '/generateContent'
/** Counts the prompt of a Gemini request. */
export const COUNT_CONTENT = '/countTokens'

/** Versions of Google's API that its clients name. `@google/genai` calls the first from 3.0 on. */
export const GEMINI_VERSIONS = ['v1', 'v1beta', 'v1alpha'] as const

/** Methods of a model, at the end of a path. */
export const GEMINI_METHODS = ['generateContent', 'streamGenerateContent', 'countTokens'] as const

const PATH = new RegExp(`^/(?:v1(?:beta|alpha)/|v1/models/.+:(?:${GEMINI_METHODS.join('|')})$)`)

/** Tells whether a path, without its query, belongs to Google's API alone. */
export const isGeminiPath = (path: string): boolean => PATH.test(decoded(path))

/** A path without escapes, as routes read the model in it: some clients escape the colon. */
function decoded(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Endpoint of a path of Google's API, below `/v1`. Null where no model is asked. */
export function geminiEndpoint(path: string): string | null {
  const method = /:\w+$/.exec(decoded(path))?.[0]
  if (method === undefined) return null
  return method === ':countTokens' ? COUNT_CONTENT : GENERATE_CONTENT
}

/** Longest name of a model that a record keeps. */
const LONGEST_NAME = 256

/** Model that a path of Google's API names. Null where no model is asked. */
export const geminiModel = (path: string): string | null =>
  isGeminiPath(path) ? (/\/models\/(.+):\w+$/.exec(decoded(path))?.[1]?.slice(0, LONGEST_NAME) ?? null) : null
