import type { Provider } from '../upstreams/provider.ts'
import type { Send } from './exchange.ts'
import { CLIENT_GONE } from './send.ts'

/** Sends to an upstream in this process (the sandbox), through the provider's own `fetch`. */
export function inProcessSend(provider: Provider): Send {
  return ({ method, path, headers, body }, listener) => {
    const ending = new AbortController()
    let waiting: (() => void) | undefined
    let paused = false

    async function run(): Promise<void> {
      const url = provider.baseUrl + path
      const init = { method, headers, body: body?.toString() ?? null, signal: ending.signal }
      listener.onConnected?.()
      const response = await provider.fetch(url, init)
      listener.onHead(response.status, Object.fromEntries(response.headers))
      for await (const chunk of response.body ?? []) {
        if (ending.signal.aborted) throw ending.signal.reason
        listener.onData(Buffer.from(chunk))
        if (paused)
          await new Promise<void>((resolve) => {
            waiting = resolve
          })
      }
      listener.onEnd()
    }
    // In a later turn, so that the caller holds the exchange before anything arrives.
    setImmediate(() => run().catch((error) => listener.onError(error)))

    const resume = () => {
      paused = false
      waiting?.()
    }
    return {
      pause: () => {
        paused = true
      },
      resume,
      abort() {
        ending.abort(CLIENT_GONE)
        resume()
      },
    }
  }
}
