import type { RefObject, TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

const FIELDS = ['input', 'select', 'textarea'].map((name) => `${name}:not(:disabled)`).join(', ')

/**
 * Moves the keyboard focus to the first field of a dialog, else to its confirm button, else to its first action.
 * Without any of these, the focus stays.
 */
export function focusFirst(inside: Element): void {
  const first =
    inside.querySelector<HTMLElement>(FIELDS) ??
    inside.querySelector<HTMLElement>('form button.primary[type="submit"]') ??
    inside.querySelector<HTMLElement>('form .actions button')
  first?.focus()
}

/**
 * Moves the keyboard focus to the control that took the place of one that was removed: a column of buttons that folded
 * away and came back has new ones. Without such a control, it moves to the heading of the page.
 */
export function focusSuccessor(removed: Element): void {
  const label = removed.getAttribute('aria-label')
  const next = label === null ? null : document.querySelector<HTMLElement>(`main [aria-label="${CSS.escape(label)}"]`)
  const target = next ?? document.querySelector<HTMLElement>('main h1[tabindex]')
  target?.focus({ preventScroll: next === null })
}

/**
 * Submits a form on Ctrl+Enter or ⌘+Enter. This also works in a text area, where Enter alone starts a new line. It
 * clicks the button, which may be disabled. Neither a key that is held down nor a button of the tone `danger` submits: the
 * dialog that a form opens would be answered at once.
 */
export function submitByKeys(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  if (event.repeat) return
  event.currentTarget.querySelector<HTMLButtonElement>('button[type="submit"]:not(.danger)')?.click()
}

/**
 * Moves the keyboard focus on when a focused control is removed, because it would otherwise drop to the top of the
 * page. The target is the first button of the surrounding dialog, or the heading of the card or page.
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
