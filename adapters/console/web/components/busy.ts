import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'

/** Notifies the elements around a button when its work begins and ends. */
export const BusyAround = createContext<(busy: boolean) => void>(() => {})

/** Notifies the surrounding elements whether work is in progress. */
export function useBusyAround(busy: boolean): void {
  const tell = useContext(BusyAround)
  useLayoutEffect(() => {
    if (!busy) return
    tell(true)
    return () => tell(false)
  }, [busy])
}
