import type { Followed } from '../config/follow.ts'
import { lazily } from '../lazily.ts'
import type { Upstream } from './inference.ts'
import type { OpenUpstream } from './open.ts'

const loadOpen = lazily(() => import('./open.ts'))
const loadSuccession = lazily(() => import('./relay/succession.ts'))

/** Follows the newest `upstream`, with calls that do the same. */
export function followingUpstream({ always, now, onRenewed }: Followed<Upstream>): Upstream {
  return Object.defineProperty(always, 'openCalls', { value: open })

  async function open(): ReturnType<Upstream['openCalls']> {
    const [{ openUpstream }, { createSuccession }] = await Promise.all([loadOpen(), loadSuccession()])
    const upstreams = createSuccession<OpenUpstream>()
    let newest = upstreams.put(now().openBy(openUpstream))
    // Synchronously, so that no request sees the new configuration with the old upstream.
    const stop = onRenewed(() => {
      newest = upstreams.put(now().openBy(openUpstream))
    })
    return {
      current: () => newest,
      async close() {
        stop()
        await upstreams.close()
      },
    }
  }
}
