import { EMBED_CONTENT } from './gemini-endpoints.ts'

/** Cost of a request to a verbatim path: of its input, also of its answer, unknown beforehand, or none. */
export type Cost = 'input' | 'answer' | 'unbounded' | 'nothing'

/** A path of `/v1` that is forwarded unchanged, beside the model endpoints that are converted. */
export interface VerbatimPath {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path below `/v1`, as records name it. `{id}` stands for an object of an earlier call. */
  path: string
  /** Body type: JSON, a form (`multipart/form-data`), or either. */
  body: 'none' | 'json' | 'form' | 'any'
  cost: Cost
  /** True when the upstream has a default model. */
  hasDefault?: true
  /** True when the reply names objects that the caller created. Only the caller sees it from then on. */
  makes?: true
  /** True when the reply lists the objects of all callers. */
  lists?: true
}

const asked = (path: string, cost: Cost, body: VerbatimPath['body'] = 'json'): VerbatimPath => ({
  method: 'POST',
  path,
  body,
  cost,
})
const seen = (method: VerbatimPath['method'], path: string): VerbatimPath => ({
  method,
  path,
  body: 'none',
  cost: 'nothing',
})

/** Verbatim paths. Routes, records, metrics and tests are derived from them. */
export const VERBATIM_PATHS: readonly VerbatimPath[] = [
  asked('/embeddings', 'input'),
  { ...asked('/moderations', 'input'), hasDefault: true },
  asked('/rerank', 'input'),
  asked('/completions', 'answer'),
  asked('/images/generations', 'answer'),
  asked('/audio/speech', 'answer'),
  asked('/audio/transcriptions', 'answer', 'form'),
  asked('/audio/translations', 'answer', 'form'),
  asked('/audio/{name}', 'answer', 'any'),
  asked('/responses/compact', 'answer'),
  { ...seen('GET', '/responses/{id}'), makes: true },
  seen('DELETE', '/responses/{id}'),
  seen('GET', '/responses/{id}/input_items'),
  seen('POST', '/responses/{id}/cancel'),
  { method: 'POST', path: '/files', body: 'form', cost: 'nothing', makes: true },
  { ...seen('GET', '/files'), lists: true },
  seen('GET', '/files/{id}'),
  seen('DELETE', '/files/{id}'),
  seen('GET', '/files/{id}/content'),
  { method: 'POST', path: '/batches', body: 'json', cost: 'unbounded', makes: true },
  { ...seen('GET', '/batches'), lists: true },
  { ...seen('GET', '/batches/{id}'), makes: true },
  { ...seen('POST', '/batches/{id}/cancel'), makes: true },
]

/**
 * Fields of a request about a recording that name it instead of containing it: Groq's `url`
 * (https://console.groq.com/docs/speech-to-text), and Mistral's `file_url` and `file_id`
 * (https://docs.mistral.ai/capabilities/audio).
 */
export const LINKING_FIELDS = ['url', 'file_url', 'file_id'] as const

/** Tells whether a request to a path calls a model. */
export const asksModel = ({ cost }: VerbatimPath): boolean => cost === 'input' || cost === 'answer'

/** Tells whether requests to a path cost tokens of text alone, so that they can be paid for by request, as chats are. */
export const isOfText = ({ path, cost }: VerbatimPath): boolean => cost === 'input' || path === '/completions'

/** Paths that cost only their input. */
export const INPUT_ALONE: ReadonlySet<string> = new Set([
  ...VERBATIM_PATHS.filter(({ cost }) => cost === 'input').map(({ path }) => path),
  EMBED_CONTENT,
])
