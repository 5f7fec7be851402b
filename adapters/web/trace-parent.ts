import type { IncomingMessage } from 'node:http'

const traced = new WeakMap<IncomingMessage, string>()

/** Notes the span that this process makes of a request: the parent of what the request causes. */
export const noteTrace = (incoming: IncomingMessage, traceparent: string): void =>
  void traced.set(incoming, traceparent)

/** Finds the trace context of what a request causes: our span of it, otherwise the one that its client sent. */
export function traceparentOf(incoming: IncomingMessage): string | undefined {
  const { traceparent } = incoming.headers
  return traced.get(incoming) ?? (typeof traceparent === 'string' ? traceparent : undefined)
}
