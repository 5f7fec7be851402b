/** Endpoints of Google's API, as records and metrics name them below `/v1`. The model is in their paths. */
export const GENERATE_CONTENT = '/generateContent'
/** Counts the prompt of a Gemini request. */
export const COUNT_CONTENT = '/countTokens'

/** Embeds texts with a model of an upstream that has Google's own API. */
export const EMBED_CONTENT = '/embedContent'

/** Versions of Google's API that its clients name. `@google/genai` calls the first from 3.0 on. */
export const GEMINI_VERSIONS = ['v1', 'v1beta', 'v1alpha'] as const
/** Those that no other API has. */
export const OWN_VERSIONS = ['v1beta', 'v1alpha'] as const

/** Methods of a model, at the end of a path. */
export const CONTENT_METHODS = ['generateContent', 'streamGenerateContent', 'countTokens'] as const
const EMBED_METHODS = ['embedContent', 'batchEmbedContents'] as const
export const GEMINI_METHODS = [...CONTENT_METHODS, ...EMBED_METHODS] as const
export type GeminiMethod = (typeof GEMINI_METHODS)[number]

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

/**
 * Target of a method of a model, below the base of Google's API.
 *
 * @param model its id there, also as lists name it, with `models/`
 */
export const geminiTarget = (model: string, method: GeminiMethod): string =>
  `/models/${encodeURIComponent(model.replace(/^models\//, ''))}:${method}${method === 'streamGenerateContent' ? '?alt=sse' : ''}`

/** Tells whether a target is that of a method of a model. */
export const isGeminiTarget = (target: string): boolean => target.startsWith('/models/') && target.includes(':')

/** Endpoints of methods, below `/v1`. */
const ENDPOINTS_OF: Readonly<Record<GeminiMethod, string>> = {
  generateContent: GENERATE_CONTENT,
  streamGenerateContent: GENERATE_CONTENT,
  countTokens: COUNT_CONTENT,
  embedContent: EMBED_CONTENT,
  batchEmbedContents: EMBED_CONTENT,
}

/** Endpoint of a path of Google's API, below `/v1`. Null where no model is asked. */
export function geminiEndpoint(path: string): string | null {
  const method = /:(\w+)$/.exec(decoded(path))?.[1]
  if (method === undefined) return null
  return Object.hasOwn(ENDPOINTS_OF, method) ? ENDPOINTS_OF[method as GeminiMethod] : GENERATE_CONTENT
}

/** Longest name of a model that a record keeps. */
const LONGEST_NAME = 256

/** Model that a path of Google's API names. Null where no model is asked. */
export const geminiModel = (path: string): string | null =>
  isGeminiPath(path) ? (/\/models\/(.+):\w+$/.exec(decoded(path))?.[1]?.slice(0, LONGEST_NAME) ?? null) : null
