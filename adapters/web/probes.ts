import type { Hono } from 'hono'
import type { Frame } from './frame-context.ts'
import type { Readiness } from './readiness.ts'

/**
 * Paths that orchestrators and load balancers probe. They need no key and answer whatever the Host, because a probe
 * names the address of a container or the name of a balancer's target group.
 */
const PROBES: ReadonlySet<string> = new Set(['/health', '/livez', '/readyz'])

/** Tells whether a path is a probe's. */
export const isProbe = (path: string): boolean => PROBES.has(path)

/**
 * Registers the probes of a process:
 * - `GET /livez`: 200 while the process answers at all; it looks at nothing else
 * - `GET /readyz`: 200 while new clients may come, else 503 with the reason
 */
export function probes(app: Hono<Frame>, readiness: Readiness): void {
  app.get('/livez', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const reason = await readiness.obstacle()
    return reason === null ? c.json({ status: 'ready' }) : c.json({ status: 'unready', reason }, 503)
  })
}
