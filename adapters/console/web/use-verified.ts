import { useEffect, useRef } from 'preact/hooks'

/** Time between questions whether a key is still valid, in milliseconds. */
const VERIFY_MS = 30_000

/**
 * Asks whether the key is still valid, while the page is visible and when a person comes back to it. A page that loads nothing by
 * itself learns of a key that was revoked, too.
 */
export function useVerified(verify: () => void): void {
  const newest = useRef(verify)
  newest.current = verify
  useEffect(() => {
    const ask = () => {
      if (!document.hidden) newest.current()
    }
    document.addEventListener('visibilitychange', ask)
    const timer = setInterval(ask, VERIFY_MS)
    return () => {
      document.removeEventListener('visibilitychange', ask)
      clearInterval(timer)
    }
  }, [])
}
