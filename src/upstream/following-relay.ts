import type { Followed } from '../config/follow.ts'
import type { Upstream } from './upstream.ts'

/** `upstream`, whichever is the newest, with a relay that follows it. */
export function followingUpstream({ always, now, onRenewed }: Followed<Upstream>): Upstream {
  return Object.defineProperty(always, 'openRelay', { value: open })

  async function open(): ReturnType<Upstream['openRelay']> {
    const { openRelay } = await import('./relay/open.ts')
    let newest = now().openRelayBy(openRelay)
    const opened = [newest]
    // At once, so that no request meets the new configuration and the old upstream. An earlier relay is left alone: what is
    // under way on it ends there, and its connections close once they are idle.
    const stop = onRenewed(() => {
      newest = now().openRelayBy(openRelay)
      opened.push(newest)
    })
    return {
      current: () => newest.current(),
      async close() {
        stop()
        await Promise.all(opened.map((relay) => relay.close()))
      },
    }
  }
}
