import type { RefObject, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

const FIELDS = ['input', 'select', 'textarea'].map((name) => `${name}:not(:disabled)`).join(', ')

/**
 * Puts the keyboard's focus where a person goes on in a dialog: its first field, else what confirms it, else what gives it
 * up. Where it has none of these, the focus stays.
 */
export function focusFirst(inside: Element): void {
  const first =
    inside.querySelector<HTMLElement>(FIELDS) ??
    inside.querySelector<HTMLElement>('form button.primary[type="submit"]') ??
    inside.querySelector<HTMLElement>('form .actions button')
  first?.focus()
}

/**
 * Submits a form by Ctrl or ⌘ and Enter, also from a text area, where Enter alone begins a line. It goes by the button, which
 * knows whether it may.
 */
export function submitByKeys(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.querySelector<HTMLButtonElement>('button[type="submit"]')?.click()
}

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
