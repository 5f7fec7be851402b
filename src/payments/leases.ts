import { type Claims, LEASE_MS } from './claims.ts'

/** Renewals per lease. */
const RENEWED_TIMES = 3

/** Leases of the payments that this process works on. */
export interface Leases {
  /** Renews a lease until {@link end}. @param begun start of the lease */
  begin(id: string, lease: string, begun: Moment): void
  end(id: string): void
  /**
   * Tells whether this process holds the lease now. False after a suspension as long as the lease, when another process
   * may have given the money back.
   */
  isHeld(id: string): boolean
  /** Renews the lease in the store. @returns false when another process has taken over */
  confirm(id: string): Promise<boolean>
}

/** A moment by two clocks, in milliseconds: `steady` stops while the machine sleeps, `wall` may be set. */
export interface Moment {
  wall: number
  steady: number
}
export const moment = (): Moment => ({ wall: Date.now(), steady: performance.now() })

interface HeldLease {
  lease: string
  until: Moment
  timer: NodeJS.Timeout
  /** The latest renewal. */
  renewal: Promise<boolean>
}

/** Creates the leases of this process on the payments of `claims`. */
export function createLeases({
  claims,
  leaseMs = LEASE_MS,
  onError,
}: {
  claims: Claims
  leaseMs?: number | undefined
  onError: (error: unknown) => void
}): Leases {
  const held = new Map<string, HeldLease>()
  const after = ({ wall, steady }: Moment): Moment => ({ wall: wall + leaseMs, steady: steady + leaseMs })

  function end(id: string): void {
    clearInterval(held.get(id)?.timer)
    held.delete(id)
  }

  async function renew(id: string, mine: HeldLease): Promise<boolean> {
    const asked = moment()
    const lease = await claims.renew(id, mine.lease)
    if (lease === null) end(id)
    else Object.assign(mine, { lease, until: after(asked) })
    return lease !== null
  }

  /** Serialises renewals: each lease is renewed once. */
  function confirm(id: string): Promise<boolean> {
    const mine = held.get(id)
    if (!mine) return Promise.resolve(false)
    mine.renewal = mine.renewal.catch(() => true).then(() => held.get(id) === mine && renew(id, mine))
    return mine.renewal
  }

  return {
    begin(id, lease, begun) {
      const timer = setInterval(() => void confirm(id).catch(onError), leaseMs / RENEWED_TIMES).unref()
      held.set(id, { lease, until: after(begun), timer, renewal: Promise.resolve(true) })
    },
    end,
    isHeld(id) {
      const until = held.get(id)?.until
      return until !== undefined && Date.now() < until.wall && performance.now() < until.steady
    },
    confirm,
  }
}
