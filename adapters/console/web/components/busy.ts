import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'

/** Notifies the elements around a button when its work begins and ends. */
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
