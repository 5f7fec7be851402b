import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * Folds columns of a table, one after the other, until the others fit into its frame.
 *
 * @param order keys of the columns in the order in which they leave
 * @returns tells whether a column is folded
 */
export function useFolding(frame: RefObject<HTMLElement | null>, order: readonly string[]): (key: string) => boolean {
  const [folded, setFolded] = useState(0)
  /** Width in pixels that the table needs, by the number of folded columns. */
  const needed = useRef<number[]>([])
  useLayoutEffect(() => {
    const element = frame.current
    const table = element?.firstElementChild
    if (!element || !table) return
    const measure = () => {
      const { clientWidth, scrollWidth } = element
      if (clientWidth === 0) return
      if (scrollWidth > clientWidth && folded < order.length) {
        needed.current[folded] = scrollWidth
        setFolded(folded + 1)
      } else if (folded > 0 && clientWidth >= (needed.current[folded - 1] ?? 0)) setFolded(folded - 1)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    observer.observe(table)
    return () => observer.disconnect()
  }, [folded, order.length])
  const away = new Set(order.slice(0, folded))
  return (key) => away.has(key)
}
