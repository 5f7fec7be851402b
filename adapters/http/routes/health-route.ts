import { VERSION } from '../../../src/config/version.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { FrameContext } from '../../web/frame-context.ts'

/** `GET /health`. Open to all, so it shows only what works and the names of upstreams. */
export function health({ store, upstream, liveness }: Gateway) {
  return async (c: FrameContext): Promise<Response> => {
    const [storeOk, { upstreams, answers }] = await Promise.all([store.check(), liveness.current()])
    const { provider } = upstream
    const reachable = upstreams[0]?.reachable ?? null
    return c.json({
      status: storeOk && answers ? 'ok' : 'degraded',
      version: VERSION,
      uptime_seconds: Math.floor(process.uptime()),
      store: { engine: store.engine, ok: storeOk },
      upstream: { name: provider.label, configured: provider.hasKey, reachable },
      upstreams,
    })
  }
}
