import { type ReviewState, standingOf } from './review-state.ts'
import { CHUNK } from './rows.tsx'

const elementOf = (index: number) => document.getElementById(`part-${index}`)

/** Moves to a part. @param row to have in the middle of the screen; by default the part begins at its top */
export function goTo(state: ReviewState, index: number, row?: number): void {
  const element = elementOf(index)
  if (element === null) return
  state.current.value = index
  element.focus({ preventScroll: true })
  element.scrollIntoView({ block: 'start' })
  if (row === undefined || row < 2) return
  const chunk = element.querySelector(`[data-from="${Math.floor(row / CHUNK) * CHUNK}"]`)
  chunk?.scrollIntoView({ block: 'start' })
  // The rows are drawn once the browser has told that they are near.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => chunk?.children[row % CHUNK]?.scrollIntoView({ block: 'center' })),
  )
}

/** Moves to the next or the previous part, or to the first one on the screen where the current one was scrolled away. */
export function step(state: ReviewState, by: 1 | -1): void {
  const { current, parts } = state
  const onScreen = (index: number) => {
    const rect = elementOf(index)?.getBoundingClientRect()
    return rect !== undefined && rect.bottom > 0 && rect.top < innerHeight
  }
  if (onScreen(current.value)) {
    goTo(state, Math.min(Math.max(current.value + by, 0), parts.length - 1))
    return
  }
  const first = parts.findIndex((_, index) => onScreen(index))
  if (first !== -1) goTo(state, first)
}

/** Moves to the next part that was not read, from its first line that was not. Goes round at the end. */
export function goToUnread(state: ReviewState): boolean {
  const { current, parts, readings } = state
  for (let ahead = 0; ahead <= parts.length; ahead++) {
    const index = (current.value + ahead) % parts.length
    if (standingOf(state, index) === 'read') continue
    const row = firstUnread(readings[index]?.value)
    // From the current hunk on, unless what is unread there is on the screen already.
    if (ahead === 0 && parts.length > 1 && isRowOnScreen(index, row)) continue
    goTo(state, index, row)
    return true
  }
  return false
}

function firstUnread(reading: ReviewState['readings'][number]['value'] | undefined): number | undefined {
  const starts = [reading?.unread[0]?.[0], reading?.glanced[0]?.[0]].filter((row) => row !== undefined)
  return starts.length === 0 ? undefined : Math.min(...starts)
}

function isRowOnScreen(index: number, row = 0): boolean {
  const chunk = elementOf(index)?.querySelector(`[data-from="${Math.floor(row / CHUNK) * CHUNK}"]`)
  const rect = (chunk?.children[row % CHUNK] ?? elementOf(index))?.getBoundingClientRect()
  return rect !== undefined && rect.bottom > 0 && rect.top < innerHeight
}
