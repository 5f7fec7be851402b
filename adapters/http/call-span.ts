import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { Provider } from '../../src/inference/upstreams/provider.ts'
import { contentAttributes } from './span-content.ts'

/** Endpoint → `gen_ai.operation.name`. Other endpoints run no model and have a plain client span. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/chat/completions': 'chat',
  '/responses': 'chat',
  '/messages': 'chat',
  '/generateContent': 'generate_content',
  '/completions': 'text_completion',
  '/embeddings': 'embeddings',
  '/embedContent': 'embeddings',
}
/** Provider names of the conventions that differ from Gazeway's. */
const PROVIDERS: Readonly<Record<string, string>> = { xai: 'x_ai' }

/** Fields of the span of a call. */
export interface CallSpan {
  name: string
  kind: SpanKind
  attributes: Attributes
  /** Error message; null when it may not be exported. */
  message: string | null
}

/**
 * Describes upstream calls by OpenTelemetry's semantic conventions for generative AI clients
 * (open-telemetry/semantic-conventions-genai, client inference, in development), with `gazeway.` for other attributes.
 * The model is the one sent to the upstream. Content is exported only when the record has it (`audit.store_content`).
 * The same holds for error texts, because upstreams quote the request in them.
 */
export function callDescriber(provider: Provider): (record: CallRecord) => CallSpan {
  const { inProcess } = provider
  const kind = inProcess ? SpanKind.INTERNAL : SpanKind.CLIENT
  const server = inProcess ? {} : serverAttributes(provider.baseUrl)

  return (record) => {
    const { model, usage, content } = record
    const endpoint = record.path.slice('/v1'.length)
    const operation = OPERATIONS[endpoint]
    const firstChunk = record.first_token_ms === null ? undefined : record.first_token_ms / 1000
    const attributes: Attributes = {
      // The SDK omits undefined values.
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': PROVIDERS[record.upstream] ?? record.upstream,
      'gen_ai.request.model': model ?? undefined,
      'gen_ai.request.stream': record.stream || undefined,
      'gen_ai.response.time_to_first_chunk': firstChunk,
      'gen_ai.usage.input_tokens': usage?.prompt_tokens,
      'gen_ai.usage.output_tokens': usage?.completion_tokens,
      'http.response.status_code': record.http_status ?? undefined,
      'error.type': CALL_STATUSES[record.status].counts === 'error' ? errorType(record.http_status) : undefined,
      'url.path': record.path,
      'gazeway.call_id': record.call_id,
      'gazeway.status': record.status,
      'gazeway.surface': record.surface,
      'gazeway.cost_usd': record.upstream_cost_usd ?? undefined,
      'gazeway.caller_id': record.caller_id ?? undefined,
      'gazeway.requested_model': record.requested_model ?? undefined,
      'gazeway.fallback_from': record.fallback_from ?? undefined,
      'gazeway.usage_estimated': usage?.estimated,
    }
    Object.assign(attributes, server)
    if (content !== undefined) Object.assign(attributes, contentAttributes(content, record.status))
    return {
      name: operation ? `${operation} ${model ?? ''}`.trimEnd() : 'upstream request',
      kind,
      attributes,
      message: content === undefined ? null : record.error,
    }
  }
}

function serverAttributes(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl)
  const usual = protocol === 'https:' ? 443 : 80
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) }
}

/** HTTP status of a failed call, or the conventions' value for an error without a class. */
const errorType = (httpStatus: number | null): string =>
  httpStatus !== null && httpStatus >= 400 ? String(httpStatus) : '_OTHER'
