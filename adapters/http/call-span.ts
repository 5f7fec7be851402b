import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { CallRecord } from '../../src/upstream/call-record.ts'
import type { Provider } from '../../src/upstream/provider.ts'
import { contentAttributes } from './span-content.ts'

/** Endpoint → `gen_ai.operation.name`. What is not here is no model's work and has a plain client span. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/chat/completions': 'chat',
  '/responses': 'chat',
  '/completions': 'text_completion',
  '/embeddings': 'embeddings',
}
/** The conventions' own names for providers, where they have one that differs. */
const PROVIDERS: Readonly<Record<string, string>> = { xai: 'x_ai' }

/** A call as a span tells it. */
export interface CallSpan {
  name: string
  kind: SpanKind
  attributes: Attributes
  /** What went wrong, in words; null where that may not be told. */
  message: string | null
}

/**
 * The span of an upstream call, by OpenTelemetry's semantic conventions for generative AI clients
 * (open-telemetry/semantic-conventions-genai, client inference, in development); what they have no name for is under
 * `gazeway.`. The model is the one that the upstream was asked for. Nothing of what was said is told, unless the record
 * has it (`audit.store_content`); nor is the error's text then, for upstreams quote the request in it.
 */
export function describeCall(record: CallRecord, provider: Provider): CallSpan {
  const endpoint = record.path.startsWith(provider.pathname) ? record.path.slice(provider.pathname.length) : record.path
  const operation = OPERATIONS[endpoint]
  return {
    name: operation ? [operation, record.model].filter(Boolean).join(' ') : 'upstream request',
    kind: provider.inProcess ? SpanKind.INTERNAL : SpanKind.CLIENT,
    attributes: {
      ...(operation ? { 'gen_ai.operation.name': operation } : {}),
      'gen_ai.provider.name': PROVIDERS[record.upstream] ?? record.upstream,
      ...given('gen_ai.request.model', record.model),
      ...(record.stream ? { 'gen_ai.request.stream': true } : {}),
      ...given('gen_ai.response.time_to_first_chunk', record.first_token_ms && record.first_token_ms / 1000),
      ...usageAttributes(record),
      ...serverAttributes(provider),
      'url.path': record.path,
      ...given('http.response.status_code', record.http_status),
      ...(record.status === 'error' ? { 'error.type': errorType(record.http_status) } : {}),
      'gazeway.call_id': record.call_id,
      'gazeway.status': record.status,
      'gazeway.surface': record.surface,
      'gazeway.cost_usd': record.upstream_cost_usd,
      ...given('gazeway.caller_id', record.caller_id),
      ...given('gazeway.requested_model', record.requested_model),
      ...given('gazeway.fallback_from', record.fallback_from),
      ...(record.content === undefined ? {} : contentAttributes(record.content, record.status)),
    },
    message: record.content === undefined ? null : record.error,
  }
}

function usageAttributes({ usage }: CallRecord): Attributes {
  if (usage === null) return {}
  return {
    'gen_ai.usage.input_tokens': usage.prompt_tokens,
    'gen_ai.usage.output_tokens': usage.completion_tokens,
    ...(usage.estimated ? { 'gazeway.usage_estimated': true } : {}),
  }
}

function serverAttributes({ inProcess, baseUrl }: Provider): Attributes {
  if (inProcess) return {}
  const { hostname, port, protocol } = new URL(baseUrl)
  const usual = protocol === 'https:' ? 443 : 80
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) }
}

/** The status that says what was wrong, else the conventions' word for an error without a class. */
const errorType = (httpStatus: number | null): string =>
  httpStatus !== null && httpStatus >= 400 ? String(httpStatus) : '_OTHER'

const given = (name: string, value: string | number | null): Attributes => (value === null ? {} : { [name]: value })
