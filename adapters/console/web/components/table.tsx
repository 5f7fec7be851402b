import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import type { Paged } from '../paging.ts'
import { go } from '../router.ts'
import type { Live } from '../use-live.ts'
import { Button } from './fields.tsx'
import { useFocusHandedOn } from './keyboard-focus.ts'

/** Column of a table. Without `render` it shows the row's field of the same key. */
export interface Column<Row> {
  key: string
  label: string
  render?: (row: Row) => ComponentChildren
  /** `words`: text by people or models, which may be long. */
  align?: 'left' | 'right' | 'words'
}

/** Screens up to this width show all rows as blocks, in pixels. */
const NARROW_PX = 640

/**
 * Table of rows. If its columns do not fit, each row is a block.
 *
 * @param of source of the rows; while it loads or has failed, the empty state is not shown
 * @param empty content in place of a table without rows; `<Empty>` says what to do
 * @param addressOf address of a row's page: its first cell is a link to it, and a click on the row opens it
 * @param onRow opens a row without a page of its own, by a click on it or by the keyboard on its first cell
 */
export function DataTable<Row>(props: {
  /** Label of the table for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  of?: Pick<Live<unknown>, 'error' | 'loading'>
  empty?: ComponentChildren
  addressOf?: (row: Row) => string
  onRow?: (row: Row) => void
}) {
  const { columns, rows, rowKey, addressOf, onRow, of } = props
  const open = addressOf ? (row: Row) => go(addressOf(row)) : onRow
  if (rows.length === 0 && (of?.error || of?.loading)) return null
  if (rows.length === 0 && props.empty) return <>{props.empty}</>
  const cell = (row: Row, column: Column<Row>, at: number) => {
    const shown = column.render ? column.render(row) : textOf((row as Record<string, unknown>)[column.key])
    if (at > 0 || !open) return shown
    if (addressOf) return <RowAnchor href={addressOf(row)}>{shown}</RowAnchor>
    return <RowButton onClick={() => open(row)}>{shown}</RowButton>
  }
  // Roles are explicit, because elements in block layout lose their own.
  return (
    <Frame label={props.label}>
      <table role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, label, align }) => (
              <th key={key} role="columnheader" scope="col" class={align ?? 'left'}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              role="row"
              class={open ? 'opens' : undefined}
              onClick={(event) => {
                if (open && !(event.target as Element).closest('a, button, input, select')) open(row)
              }}
            >
              {columns.map((column, at) => (
                <td key={column.key} role="cell" class={column.align ?? 'left'} data-label={column.label}>
                  <div class="cell">{cell(row, column, at)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  )
}

function RowAnchor(props: { href: string; children: ComponentChildren }) {
  const element = useRef<HTMLAnchorElement>(null)
  useFocusHandedOn(element)
  return (
    <a ref={element} class="row-link" href={props.href}>
      {props.children}
    </a>
  )
}

function RowButton(props: { onClick: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLButtonElement>(null)
  useFocusHandedOn(element)
  return (
    <button ref={element} type="button" class="row-link" onClick={props.onClick}>
      {props.children}
    </button>
  )
}

/**
 * Shows the rows of a table as blocks until its columns fit. A table that is still too wide scrolls, also by the
 * keyboard.
 */
function Frame({ label, children }: { label: string; children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null)
  const neededPx = useRef(0)
  const [blocks, setBlocks] = useState(false)
  const [isScrolled, setIsScrolled] = useState(false)
  useLayoutEffect(() => {
    const element = frame.current
    const table = element?.firstElementChild
    if (!element || !table) return
    const measure = () => {
      const { clientWidth, scrollWidth } = element
      const isOver = scrollWidth > clientWidth
      if (!blocks && isOver) neededPx.current = scrollWidth
      setBlocks(innerWidth <= NARROW_PX || clientWidth < neededPx.current)
      setIsScrolled(isOver)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    observer.observe(table)
    return () => observer.disconnect()
  }, [blocks])
  const reached = isScrolled ? ({ role: 'region', tabIndex: 0, 'aria-label': `${label}, all columns` } as const) : {}
  return (
    <div ref={frame} class={blocks ? 'table-frame blocks' : 'table-frame'} {...reached}>
      {children}
    </div>
  )
}

/**
 * Position in a list, with buttons for the previous and the next page.
 *
 * @param back label of the button for the previous page
 * @param on label of the button for the next page
 */
export function Pager(props: {
  page: Pick<Paged<unknown>, 'items' | 'total' | 'first' | 'next' | 'previous'>
  back?: string
  on?: string
}) {
  const { page, back = 'Newer', on = 'Older' } = props
  if (page.total === 0 || (!page.next && !page.previous)) return null
  return (
    <nav class="pager" aria-label="Pages">
      <Button size="small" disabled={!page.previous} onClick={() => page.previous?.()}>
        {back}
      </Button>
      <span>
        {count(page.first)}–{count(page.first + page.items.length - 1)} of {count(page.total)}
      </span>
      <Button size="small" disabled={!page.next} onClick={() => page.next?.()}>
        {on}
      </Button>
    </nav>
  )
}

function textOf(value: unknown): ComponentChildren {
  if (value === null || value === undefined || value === '') return <span class="muted">—</span>
  return Array.isArray(value) ? value.join(', ') : String(value)
}
