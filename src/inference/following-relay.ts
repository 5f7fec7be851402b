import type { Followed } from '../config/follow.ts'
import { lazily } from '../wire/lazily.ts'
import type { ReplaceableRelay } from './relay/open.ts'
import type { Upstream } from './upstream.ts'

const loadRelay = lazily(() => import('./relay/open.ts'))
const loadSuccession = lazily(() => import('./relay/succession.ts'))

/** `upstream`, whichever is the newest, with a relay that follows it. */
export function followingUpstream({ always, now, onRenewed }: Followed<Upstream>): Upstream {
  return Object.defineProperty(always, 'openRelay', { value: open })

  async function open(): ReturnType<Upstream['openRelay']> {
    const [{ openRelay }, { createSuccession }] = await Promise.all([loadRelay(), loadSuccession()])
    const relays = createSuccession<ReplaceableRelay>()
    let newest = relays.put(now().openRelayBy(openRelay))
    // At once, so that no request meets the new configuration and the old upstream.
    const stop = onRenewed(() => {
      newest = relays.put(now().openRelayBy(openRelay))
    })
    return {
      current: () => newest.current(),
      async close() {
        stop()
        await relays.close()
      },
    }
  }
}
