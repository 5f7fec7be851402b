import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from './fields.tsx'
import './ordered.css'

/**
 * List whose order is changed by dragging, by buttons, and by Alt with an arrow key on a button of an item.
 *
 * @param nameOf name of an item for screen readers, with its place: `route 1`
 * @param onChange called with all items in their new order, and without a removed one
 */
export function Ordered<Item>(props: {
  label: string
  items: readonly Item[]
  nameOf: (item: Item, at: number) => string
  onChange: (items: Item[]) => void
  children: (item: Item, at: number) => ComponentChildren
}) {
  const { label, items, nameOf, onChange, children } = props
  const [dragged, setDragged] = useState<number | null>(null)
  const list = useRef<HTMLOListElement>(null)
  /** Control to focus in the new place of a moved item. */
  const following = useRef<{ place: number; control: number } | null>(null)
  useLayoutEffect(() => {
    const { place, control } = following.current ?? {}
    following.current = null
    if (place !== undefined)
      controlsOf(list.current?.children[place])
        .at(control ?? 0)
        ?.focus()
  })
  const move = (from: number, to: number) => {
    const item = items[from]
    if (item === undefined || to < 0 || to >= items.length || to === from) return
    const control = controlsOf(list.current?.children[from]).indexOf(document.activeElement as HTMLElement)
    if (control !== -1) following.current = { place: to, control }
    onChange(items.toSpliced(from, 1).toSpliced(to, 0, item))
  }
  const actsOn = (at: number) => {
    const name = nameOf(items[at] as Item, at)
    return [
      { sign: '↑', word: `Move ${name} up`, isOff: at === 0, act: () => move(at, at - 1) },
      { sign: '↓', word: `Move ${name} down`, isOff: at === items.length - 1, act: () => move(at, at + 1) },
      { sign: '✕', word: `Remove ${name}`, act: () => onChange(items.toSpliced(at, 1)) },
    ]
  }
  return (
    <ol ref={list} class="ordered" aria-label={label}>
      {items.map((item, at) => {
        return (
          <li
            key={at}
            class={dragged === at ? 'dragged' : undefined}
            onKeyDown={(event) => {
              const by = event.altKey && { ArrowUp: -1, ArrowDown: 1 }[event.key]
              if (!by) return
              event.preventDefault()
              event.stopPropagation()
              move(at, at + by)
            }}
            onDragOver={(event) => dragged !== null && event.preventDefault()}
            onDrop={(event) => {
              if (dragged === null) return
              event.preventDefault()
              move(dragged, at)
              setDragged(null)
            }}
          >
            <span
              class="grip"
              aria-hidden="true"
              draggable
              onDragStart={(event) => {
                event.stopPropagation()
                event.dataTransfer?.setData('text/plain', nameOf(item, at))
                setDragged(at)
              }}
              onDragEnd={() => setDragged(null)}
            >
              ⠿
            </span>
            <div class="ordered-item">{children(item, at)}</div>
            <div class="actions">
              {actsOn(at).map(({ sign, word, isOff = false, act }) => (
                <Button
                  key={sign}
                  size="small"
                  tone="quiet"
                  disabled={isOff}
                  label={word}
                  onClick={act}
                  children={sign}
                />
              ))}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Controls of an item, its buttons first: items differ in the number of the others. */
function controlsOf(item: Element | undefined): HTMLElement[] {
  const buttons = [...(item?.querySelectorAll<HTMLElement>(':scope > .actions button') ?? [])]
  return [...buttons, ...(item?.querySelectorAll<HTMLElement>('.ordered-item :is(input, select, button)') ?? [])]
}
