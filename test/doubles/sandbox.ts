import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'
import type { Behaviour } from './upstream.ts'

/** Serves the sandbox over HTTP: a provider that supports every endpoint and never fails. */
export function likeSandbox(): Behaviour {
  const sandbox = createSandbox()
  return async (response, { method, path, body }) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const sent = method === 'POST' ? { method, body: JSON.stringify(body) } : { method }
    const reply = await sandbox.fetch(new Request(`http://sandbox.local${path}`, { ...sent, signal: gone.signal }))
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    try {
      for await (const chunk of reply.body ?? []) response.write(chunk)
      response.end()
    } catch (error) {
      if (!gone.signal.aborted) throw error
    }
  }
}
