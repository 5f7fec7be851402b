import type { Gateway } from '../../src/gateway.ts'
import { VERSION } from '../../src/version.ts'
import type { FrameContext } from '../web/frame.ts'

/** `GET /health`: open to all, so it tells nothing of the deployment but whether it works. */
export function health({ store, upstream }: Gateway) {
  return async (c: FrameContext): Promise<Response> => {
    const storeOk = await store.check()
    const { provider } = upstream
    return c.json({
      status: storeOk ? 'ok' : 'degraded',
      version: VERSION,
      uptime_seconds: Math.floor(process.uptime()),
      store: { engine: store.engine, ok: storeOk },
      upstream: { name: provider.name, configured: provider.hasKey },
    })
  }
}
