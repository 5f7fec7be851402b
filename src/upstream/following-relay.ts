import type { Followed } from '../config/follow.ts'
import type { Upstream } from './upstream.ts'

/** `upstream`, whichever is the newest, with a relay that follows it. */
export function followingUpstream({ always, now, onRenewed }: Followed<Upstream>): Upstream {
  return Object.defineProperty(always, 'openRelay', { value: open })

  async function open(): ReturnType<Upstream['openRelay']> {
    let newest = await now().openRelay()
    const opened = [newest]
    let opening: Promise<void> = Promise.resolve()
    // An earlier relay is left alone: what is under way on it ends there, and its connections close once they are idle.
    const stop = onRenewed(() => {
      opening = opening.then(async () => {
        newest = await now().openRelay()
        opened.push(newest)
      })
    })
    return {
      current: () => newest.current(),
      async close() {
        stop()
        await opening
        await Promise.all(opened.map((relay) => relay.close()))
      },
    }
  }
}
