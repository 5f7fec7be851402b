import type { Gateway } from '../../src/gateway.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import type { Endpoint } from '../web/arrival.ts'
import { chatCompletions, checkChat } from './routes/chat-completions-route.ts'
import { checkCount, checkMessages, countTokens, messages } from './routes/messages-route.ts'
import { checkResponses, responses } from './routes/responses-route.ts'

/** An endpoint that relays a model call. */
interface ModelEndpoint {
  serve(calls: OpenCalls, gateway: Gateway): Endpoint
  /** Refuses a body that `serve` would refuse, before the call is paid. @throws GazewayError `validation_failed` */
  check(json: unknown): { stream: boolean }
}

/** Endpoints that relay model calls, each a POST, by path. */
export const MODEL_ENDPOINTS: Readonly<Record<string, ModelEndpoint>> = {
  '/v1/chat/completions': { serve: chatCompletions, check: checkChat },
  '/v1/messages': { serve: messages, check: checkMessages },
  '/v1/messages/count_tokens': { serve: countTokens, check: checkCount },
  '/v1/responses': { serve: responses, check: checkResponses },
}
