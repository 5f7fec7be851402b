import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Hands the keyboard's focus on where a control goes away with it, which would drop it to the top of the page: to the first
 * button of the dialog, or the heading of the card or page, that the control was in.
 */
export function useFocusHandedOn(control: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = control.current
    return () => {
      if (element === null || element !== document.activeElement) return
      const around = element.closest('dialog, section:has(h2[tabindex]), main')
      around?.querySelector<HTMLElement>('h1[tabindex], h2[tabindex], button')?.focus({ preventScroll: true })
    }
  }, [])
}
