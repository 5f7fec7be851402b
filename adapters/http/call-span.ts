import { type Attributes, SpanKind } from '@opentelemetry/api'
import { NOT_IN_TIME, TOO_LARGE } from '../../src/calls/call-errors.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { TRACE } from '../../src/calls/call-session.ts'
import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { CallFacts } from '../../src/calls/calls.ts'
import type { Provider } from '../../src/inference/upstreams/provider.ts'
import { presetAt } from '../../src/providers/providers.ts'
import { conventionalProvider, operationOf } from '../metrics/genai-names.ts'
import { contentAttributes } from './span-content.ts'
import { parameterAttributes } from './span-parameters.ts'

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
 * (open-telemetry/semantic-conventions-genai, `gen_ai.client.inference`, in development), with `gazeway.` for other attributes.
 * The model is the one sent to the upstream, beside the one that answered as its reply says. Parameters that are no text
 * are exported always, content only when the record has it (`audit.store_content`).
 * The same holds for error texts, because upstreams quote the request in them.
 */
export function callDescriber(provider: Provider): (record: CallRecord, facts?: CallFacts) => CallSpan {
  const { inProcess } = provider
  const vendor = provider.vendor ?? presetAt(provider.baseUrl)?.name
  const kind = inProcess ? SpanKind.INTERNAL : SpanKind.CLIENT
  const server = inProcess ? {} : serverAttributes(provider.baseUrl)

  return (record, facts) => {
    const { model, usage, content } = record
    const operation = operationOf(record.path)
    const firstChunk = record.first_token_ms === null ? undefined : record.first_token_ms / 1000
    const attributes: Attributes = {
      // The SDK omits undefined values.
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name':
        vendor !== undefined && record.upstream === provider.name ? conventionalProvider(vendor) : record.upstream,
      'gen_ai.request.model': model ?? undefined,
      'gen_ai.request.stream': record.stream || undefined,
      'gen_ai.response.time_to_first_chunk': firstChunk,
      'gen_ai.response.model': facts?.answeredBy ?? undefined,
      'gen_ai.conversation.id': conversationOf(record),
      'gen_ai.usage.input_tokens': usage?.prompt_tokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cached_tokens,
      'gen_ai.usage.cache_write.input_tokens': usage?.cache_write_tokens,
      'gen_ai.usage.output_tokens': usage?.completion_tokens,
      'http.response.status_code': record.http_status ?? undefined,
      'error.type': CALL_STATUSES[record.status].counts === 'error' ? errorType(record) : undefined,
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
    Object.assign(attributes, server, parameterAttributes(facts?.request))
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

/** Session of a call, unless it is known by its trace alone, which the conventions do not take for one. */
const conversationOf = ({ session_id: id }: CallRecord): string | undefined =>
  id === null || id.startsWith(TRACE) ? undefined : id

/** Class of a failed call: its HTTP status, a class of ours, or the conventions' value for an error without one. */
function errorType({ http_status: status, error }: CallRecord): string {
  if (status !== null && status >= 400) return String(status)
  if (error?.includes(NOT_IN_TIME)) return 'timeout'
  return error?.includes(TOO_LARGE) ? 'reply_too_large' : '_OTHER'
}
