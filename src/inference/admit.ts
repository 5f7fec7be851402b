import type { CallContext } from '../calls/call-record.ts'
import type { Provider } from './provider.ts'
import type { ClientRequest } from './relay/request-body.ts'

/** The endpoints of OpenAI's API that a model is asked at, below the base URL. */
export type Endpoint = '/chat/completions' | '/responses'

/** A request to a model as its client wrote it, as far as Gazeway acts on it; everything else is passed on. */
export interface ModelBody {
  model?: string | null | undefined
  stream?: boolean | null | undefined
  [field: string]: unknown
}

/** A request to a model, whoever makes it. */
export interface ModelRequest {
  endpoint: Endpoint
  request: ClientRequest<ModelBody>
  /** How often transient errors are retried; clients over HTTP retry by themselves. */
  retries: number
  /** Whether its caller reads text alone: an answer without text, such as a call of a function, is none then. */
  needsText: boolean
}

/** Who makes a call, and how. */
export interface CallerContext extends CallContext {
  /** Names the client's request in the errors that it is told; null where they name none. */
  requestId: string | null
}

/** A call that may be made, and who makes it. */
export type Admitted<Request> = Request & { context: CallerContext }
export type Admission = Admitted<ModelRequest>

/**
 * The first step of a call: decides whether it may be made. Nothing has been sent yet.
 *
 * @throws GazewayError the refusal: `upstream_not_configured` where the upstream's key is missing
 */
export function admit<Request extends object>(
  provider: Pick<Provider, 'requireKey'>,
  asked: Request,
  context: CallerContext,
): Admitted<Request> {
  provider.requireKey()
  return { ...asked, context }
}
