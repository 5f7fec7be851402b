import type { Hono } from 'hono'
import type { Frame } from './frame-context.ts'

/**
 * Paths that orchestrators and load balancers probe. They need no key and answer whatever the Host, because a probe
 * names the address of a container or the name of a balancer's target group.
 */
const PROBES: ReadonlySet<string> = new Set(['/health', '/livez'])

/** Tells whether a path is a probe's. */
export const isProbe = (path: string): boolean => PROBES.has(path)

/** Registers `GET /livez`: 200 while the process answers at all. It looks at nothing else. */
export function livez(app: Hono<Frame>): void {
  app.get('/livez', (c) => c.json({ status: 'ok' }))
}
