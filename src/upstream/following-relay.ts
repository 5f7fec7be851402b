import type { Followed } from '../config/follow.ts'
import type { Relay } from './relay/relay.ts'
import type { Upstream } from './upstream.ts'

/** A relay that follows the configured upstream. */
export interface FollowingRelay extends Relay {
  /** The relay of the newest upstream, for a request that has to keep to one. */
  current(): Relay
  /** Ends what is under way, on earlier upstreams too, and closes the connections. */
  close(): Promise<void>
}

/** `upstream`, whichever is the newest, with a relay that follows it. */
export function followingUpstream({ always, now, onRenewed }: Followed<Upstream>): Upstream {
  return Object.defineProperty(always, 'openRelay', { value: open })

  async function open(): Promise<FollowingRelay> {
    const opened = new Set([await now().openRelay()])
    let [current] = opened as Iterable<Relay> as [Relay]
    let opening: Promise<void> = Promise.resolve()
    // An earlier relay is left alone: what is under way on it ends there, and its connections close once they are idle.
    const stop = onRenewed(() => {
      opening = opening.then(async () => {
        const next = await now().openRelay()
        opened.add(next)
        current = next
      })
    })
    const members = Object.keys(current).filter((name) => name !== 'close')
    const getters = members.map(
      (name) => [name, { get: () => current[name as keyof Relay], enumerable: true }] as const,
    )
    return Object.defineProperties({} as FollowingRelay, {
      ...Object.fromEntries(getters),
      current: { value: () => current, enumerable: true },
      close: {
        enumerable: true,
        async value() {
          stop()
          await opening
          await Promise.all([...opened].map((relay) => relay.close()))
        },
      },
    })
  }
}
