/** Position of a place that was left: how far it was scrolled, in pixels, and the link that led on. */
interface Position {
  top: number
  link: string | null
}

/** Patience for a list to load and be tall enough again, in milliseconds. */
const PATIENCE_MS = 3000

/** Positions by the number of their step in the browser's history. */
const positions = new Map<number, Position>()
let step = numberOf(history.state) ?? 0
/** Position that a return leads to; null after it was reached, and for new steps. */
let sought: Position | null = null
let clearing: ReturnType<typeof setTimeout> | undefined

history.scrollRestoration = 'manual'
history.replaceState({ step }, '')

addEventListener('hashchange', arrive)
addEventListener('scroll', () => sought ?? remember({ top: scrollY }), { passive: true })
addEventListener('click', ({ target }) => {
  const link = (target as Element).closest?.('a[href^="#"]')
  if (link) remember({ top: scrollY, link: link.getAttribute('href') })
})

/** Numbers a new step of the history, or recognizes an earlier one. */
function arrive(): void {
  const known = numberOf(history.state)
  if (known === step) return
  step = known ?? Math.max(step, ...positions.keys()) + 1
  sought = known === null ? null : (positions.get(step) ?? null)
  if (known === null) history.replaceState({ step }, '')
  clearTimeout(clearing)
  if (sought) clearing = setTimeout(forget, PATIENCE_MS)
}

function forget(): void {
  sought = null
}

function remember(change: Partial<Position>): void {
  positions.set(step, { ...(positions.get(step) ?? { top: 0, link: null }), ...change })
}

function numberOf(state: unknown): number | null {
  const known = (state as { step?: unknown } | null)?.step
  return typeof known === 'number' ? known : null
}

/**
 * Scrolls a place that was reached by the browser's back button to where it was left, and focuses the link that led
 * away, as soon as its content is there again. Other places begin at their top.
 *
 * @returns a function that stops waiting
 */
export function scrollToPlace(content: HTMLElement | null): () => void {
  arrive()
  if (sought === null || content === null) {
    scrollTo(0, 0)
    return () => {}
  }
  const { top, link } = sought
  const reach = () => {
    const left = link === null ? null : content.querySelector<HTMLElement>(`a[href="${CSS.escape(link)}"]`)
    if (sought === null) observer.disconnect()
    if ((link !== null && !left) || top > document.documentElement.scrollHeight - innerHeight) return
    observer.disconnect()
    forget()
    scrollTo(0, top)
    // A person who went on meanwhile keeps the focus.
    if (document.activeElement === content || document.activeElement === document.body)
      left?.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(reach)
  observer.observe(content, { childList: true, subtree: true })
  reach()
  return () => observer.disconnect()
}
