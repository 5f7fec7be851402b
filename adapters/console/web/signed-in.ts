import { signal } from '@preact/signals'

/** The signed-in key. It is kept in this tab's session storage, so that closing the tab forgets it. */
export interface Session {
  key: string
  /** Id of the key or wallet. */
  id: string
  isAdmin: boolean
}

const STORED_UNDER = 'gazeway.session'

/** The signed-in key; null when signed out. */
export const session = signal<Session | null>(stored())

/** Reason of the last session's end, when it was not a sign-out. */
export const endedBecause = signal<string | null>(null)

/** Signs a person in, for as long as this tab is open. */
export function beginSession(begun: Session): void {
  sessionStorage.setItem(STORED_UNDER, JSON.stringify(begun))
  endedBecause.value = null
  session.value = begun
}

/** Forgets the key. @param because what to tell the person; absent where they signed out themselves */
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
