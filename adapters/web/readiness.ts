import type { Store } from '../../src/store/store.ts'

/** Reason why a process should get no new clients. */
export type Obstacle = 'starting' | 'store_unavailable' | 'draining'

/** Phase of a process that serves. */
type Phase = 'starting' | 'ready' | 'draining'

/** Readiness of a process for new clients, the same on each of its ports. Upstreams have no part in it. */
export interface Readiness {
  /** Finds the reason against new clients; null while they may come. Notes that somebody asks. */
  obstacle(): Promise<Obstacle | null>
  /** Notes that every service of the process listens. */
  open(): void
  /** Notes that the process is going to stop. */
  drain(): void
  isDraining(): boolean
  /** Tells whether anybody has asked for the obstacle so far, as load balancers do. */
  isWatched(): boolean
}

/** Creates the readiness of a process that is in a phase now. */
export function createReadiness(store: Pick<Store, 'check'>, now: Phase = 'starting'): Readiness {
  let phase = now
  let watched = false
  let checking: Promise<boolean> | null = null

  /** Shares one check among all who ask meanwhile: the path is open, and a check takes a connection of the store. */
  function storeAnswers(): Promise<boolean> {
    checking ??= store.check().finally(() => {
      checking = null
    })
    return checking
  }

  const ofPhase = () => (phase === 'ready' ? null : phase)
  return {
    async obstacle() {
      watched = true
      // A stop may begin during the check.
      return ofPhase() ?? ((await storeAnswers()) ? ofPhase() : 'store_unavailable')
    },
    open() {
      if (phase === 'starting') phase = 'ready'
    },
    drain() {
      phase = 'draining'
    },
    isDraining: () => phase === 'draining',
    isWatched: () => watched,
  }
}
