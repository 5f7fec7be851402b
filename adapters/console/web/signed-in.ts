import { signal } from '@preact/signals'

/** Signed-in key. It is stored in the tab's session storage, so closing the tab forgets it. */
export interface Session {
  key: string
  /** Id of the key or wallet. */
  id: string
  isAdmin: boolean
  /** True for a key with the scope inference alone, which sees its own pages. */
  isInference?: boolean
}

const STORED_UNDER = 'gazeway.session'

/** Signed-in key; null when signed out. */
export const session = signal<Session | null>(stored())

/** Reason why the last session ended, if it was not a sign-out. */
export const endedBecause = signal<string | null>(null)

/** Begins a session that lasts as long as the tab. */
export function beginSession(begun: Session): void {
  sessionStorage.setItem(STORED_UNDER, JSON.stringify(begun))
  endedBecause.value = null
  session.value = begun
}

/** Ends the session and forgets the key. @param because reason to show; absent after a sign-out */
export function endSession(because: string | null = null): void {
  sessionStorage.removeItem(STORED_UNDER)
  endedBecause.value = because
  session.value = null
}

function stored(): Session | null {
  try {
    return JSON.parse(sessionStorage.getItem(STORED_UNDER) ?? 'null') as Session | null
  } catch {
    return null
  }
}
