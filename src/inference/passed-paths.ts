/** What a request to a passed path costs: its input, its answer too, what nobody can say beforehand, or nothing. */
type Cost = 'input' | 'answer' | 'unbounded' | 'nothing'

/** A path of `/v1` whose requests go to the upstream as they are, beside those that models are asked at and converted. */
export interface PassedPath {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below `/v1`, as records name it; `{id}` names what an earlier call made. */
  path: string
  /** JSON; a form (`multipart/form-data`); or either. */
  body: 'none' | 'json' | 'form' | 'any'
  cost: Cost
  /** Whether the upstream has a model of its own for requests that name none. */
  hasDefault?: true
  /** Whether its reply names what its caller has made there: only they see it from then on. */
  makes?: true
  /** Whether its reply lists what all callers have made there. */
  lists?: true
}

const asked = (path: string, cost: Cost, body: PassedPath['body'] = 'json'): PassedPath => ({
  method: 'POST',
  path,
  body,
  cost,
})
const seen = (method: PassedPath['method'], path: string): PassedPath => ({
  method,
  path,
  body: 'none',
  cost: 'nothing',
})

/** All of them: the routes, the records, the metrics and the tests follow. */
export const PASSED_PATHS: readonly PassedPath[] = [
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
  seen('GET', '/responses/{id}'),
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

/** The `purpose` of a file of requests. */
export const BATCH = 'batch'

/** Whether a request to a path asks a model. */
export const asksModel = ({ cost }: PassedPath): boolean => cost === 'input' || cost === 'answer'

/** Paths whose answer costs nothing beside the input. */
export const INPUT_ALONE: ReadonlySet<string> = new Set(
  PASSED_PATHS.filter(({ cost }) => cost === 'input').map(({ path }) => path),
)
