import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'

/** How what is around a button is told that its work begins and ends. */
export const BusyAround = createContext<(busy: boolean) => void>(() => {})

/** Tells what is around whether work is under way. */
export function useBusyAround(busy: boolean): void {
  const tell = useContext(BusyAround)
  useLayoutEffect(() => {
    if (!busy) return
    tell(true)
    return () => tell(false)
  }, [busy])
}
