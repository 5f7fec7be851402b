import { useEffect, useRef, useState } from 'preact/hooks'

/** Popover with the whole text of the cut cell below the pointer or with the keyboard's focus, in the table around. */
export function CutText() {
  const popover = useRef<HTMLDivElement>(null)
  const [cell, setCell] = useState<Element | null>(null)

  // Cut cells without a control can be reached by the keyboard.
  useEffect(() => {
    const frame = popover.current?.parentElement
    for (const one of frame?.querySelectorAll<HTMLElement>('.cell') ?? []) {
      if (isCut(one) && !one.querySelector('a, button, input, select')) one.tabIndex = 0
      else one.removeAttribute('tabindex')
    }
  })

  useEffect(() => {
    const frame = popover.current?.parentElement
    if (!frame) return
    const show = ({ target }: Event) => {
      const over = (target as Element).closest('.cell, .whole')
      if (over !== popover.current) setCell(over && isCut(over) ? over : null)
    }
    const hide = () => setCell(null)
    const hideByKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide()
    for (const kind of ['pointerover', 'focusin']) frame.addEventListener(kind, show)
    for (const kind of ['pointerleave', 'focusout']) frame.addEventListener(kind, hide)
    frame.addEventListener('keydown', hideByKey)
    addEventListener('scroll', hide, { passive: true })
    return () => removeEventListener('scroll', hide)
  }, [])

  useEffect(() => {
    const element = popover.current
    if (!element || !cell) return
    const { left, bottom, top } = cell.getBoundingClientRect()
    element.showPopover()
    const { width, height } = element.getBoundingClientRect()
    element.style.left = `${Math.max(8, Math.min(left - 12, innerWidth - width - 12))}px`
    element.style.top = `${bottom + height < innerHeight ? bottom : Math.max(8, top - height)}px`
    return () => element.hidePopover()
  }, [cell])

  return (
    <div ref={popover} class="whole" popover="manual">
      {cell?.textContent}
    </div>
  )
}

const isCut = (cell: Element): boolean => cell.scrollWidth > cell.clientWidth
